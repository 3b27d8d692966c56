/// @file
/// What could not be read, where, and why.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/reader/fault.hpp>

namespace nanlens::reader {

/// One fault in a logdir. Content never throws: every fault ends up here, and everything else is still read.
struct Diagnostic {
  std::string file;          ///< name within the logdir; empty if it concerns no single file
  std::uint64_t offset = 0;  ///< byte position of the record in the file
  Fault what;

  /// What is wrong, in English.
  [[nodiscard]] std::string message() const { return words(what); }
};

/// A list of faults that stays readable for a file that is nothing but faults: beyond a limit they are only counted.
class Diagnostics {
 public:
  static constexpr std::size_t limit = 10'000;

  void add(std::string file, std::uint64_t offset, Fault what) {
    if (list_.size() < limit)
      list_.push_back({std::move(file), offset, std::move(what)});
    else
      ++more_;
  }
  /// All faults; the last one tells how many were only counted.
  [[nodiscard]] std::vector<Diagnostic> list() const {
    std::vector<Diagnostic> all = list_;
    if (more_ != 0) all.push_back({"", 0, {FaultId::not_listed, {{"n", more_}}}});
    return all;
  }
  [[nodiscard]] bool empty() const noexcept { return list_.empty(); }

 private:
  std::vector<Diagnostic> list_;
  std::uint64_t more_ = 0;
};

}  // namespace nanlens::reader
