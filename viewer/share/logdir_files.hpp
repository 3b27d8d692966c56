/// @file
/// The files of a logdir, as they are put into one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nanlens/reader/storage.hpp>

namespace nanlens::share {

struct LogdirFiles {
  std::unique_ptr<reader::Storage> storage;
  std::vector<std::string> names;  ///< of its six kinds of files, and its marks
};

/// Of a directory, with what recordings have left in memory, or of an archive. Throws Failure if there is none, or if
/// it can't be read.
LogdirFiles open_logdir_files(const std::string& path);

}  // namespace nanlens::share
