/// @file
/// Opening what a user names on the command line: a directory, or an archive of one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <nanlens/reader/reader.hpp>

#include "report/failure.hpp"
#include "report/mutes.hpp"

namespace nanlens::cli {

using report::Failure;

/// Opens a logdir directory or archive and reads it whole. Throws Failure with what, where and what to do if there is
/// none.
std::unique_ptr<reader::Logdir> open_logdir(const std::string& path);

/// Bytes of a recording as it lies there: of a logdir's files, or of an archive; nothing if they can't be counted.
std::optional<std::uint64_t> recorded_bytes(const std::string& path);

/// The marks for what a user names as a logdir, which was read: of the file `named`; where none is named, of
/// nanlens.mutes in the logdir and of the nearest one from the working directory up to the root of its repository.
/// Throws std::runtime_error if a file can't be read.
report::Mutes find_mutes(const reader::Logdir& logdir, const std::string& path, const std::string& named = {});

/// The run with this id, or the only one. Throws Failure if there is no such run.
reader::Run& select_run(const reader::Logdir& logdir, const std::string& run_id);

}  // namespace nanlens::cli
