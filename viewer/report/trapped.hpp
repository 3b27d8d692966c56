/// @file
/// Floating-point exceptions that a program trapped itself (`feenableexcept`, `-ffpe-trap`): there is no bad tensor,
/// and yet mostly what the program ended with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nanlens/reader/reader.hpp>

#include "mutes.hpp"

namespace nanlens::report {

/// One instruction on one line, however often.
struct TrappedByProgram {
  std::uint32_t execution = 0;  ///< the first
  std::uint32_t last = 0;       ///< the last execution
  std::string op_type;          ///< "divsd"
  std::string what;             ///< "x/0"
  std::optional<reader::StackFrame> frame;
  std::uint64_t hits = 0;  ///< how often it did at least
  std::vector<logdir::TensorEvidence> operands;
  const Mute* mute = nullptr;  ///< the mark that mutes it

  /// What marks are compared with. `mute_subject` of a cause does the same.
  [[nodiscard]] MuteSubject subject() const;
  /// "divsd x/0"
  [[nodiscard]] std::string op() const { return what.empty() ? op_type : op_type + " " + what; }
  /// "scan.cpp:12"; where no line is known, the function; empty if that is not, either.
  [[nodiscard]] std::string place() const;
  /// "The program trapped divsd x/0 itself, before there was a result: scan.cpp:12", without a full stop.
  [[nodiscard]] std::string words() const;
};

/// The rule of such findings, as `rc.log0` is one.
inline constexpr const char* trapped_rule = "rc.trapped";

/// So many of a run's exceptions are read where only the first places are shown.
inline constexpr std::size_t most_trapped_read = 1000;

/// All of a run, in order, and what `mutes` say of them. Of more than `most` exceptions the first are looked at.
std::vector<TrappedByProgram> trapped_by_program(reader::Run& run, Mutes& mutes, std::size_t most = most_trapped_read);

}  // namespace nanlens::report
