/// @file
/// Opening what a user names on the command line: a directory, or an archive of one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <nanlens/reader/reader.hpp>

namespace nanlens::cli {

/// An error that ends the command with exit code 2; its text is the message.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Opens a logdir directory or archive and reads it whole. Throws Failure with what, where and what to do if there is
/// none.
std::unique_ptr<reader::Logdir> open_logdir(const std::string& path);

/// Bytes of a recording as it lies there: of a logdir's files, or of an archive; nothing if they can't be counted.
std::optional<std::uint64_t> recorded_bytes(const std::string& path);

/// The run with this id, or the only one. Throws Failure if there is no such run.
reader::Run& select_run(const reader::Logdir& logdir, const std::string& run_id);

}  // namespace nanlens::cli
