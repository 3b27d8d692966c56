/// @file
/// Marks of what is meant to be as it is: `nanlens.mutes`, a text file that belongs into version control. A line is a
/// mark, conditions that must all hold and why they are right:
///
///     type:Log file:train.cpp:12 until:2027-01-31 -- the mask of padded tokens
///
/// Conditions: rule: type: op: graph: (the whole text, with * and ? as wildcards), file: (PATH or PATH:LINE, where PATH
/// may be the end of one, from a '/' on). What holds a blank is put into double quotes. From the day after `until` on a
/// mark mutes nothing. Lines that begin with # are comments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/causes/sentence.hpp>

#include "texts/texts.hpp"

namespace nanlens::report {

/// What a mark is compared with: a cause, and the op to blame.
struct MuteSubject {
  std::string rule;  ///< "rc.log0"
  std::string op_type;
  std::string op_name;  ///< its type, where it has none
  std::string graph;
  std::string file;
  std::int64_t line = 0;
};

/// One mark.
struct Mute {
  std::string file;  ///< of the line, as a message names it
  std::size_t line = 0;
  std::string rule;  ///< patterns; empty: any
  std::string op_type;
  std::string op_name;
  std::string graph;
  std::string source;
  std::int64_t source_line = 0;  ///< 0: any
  std::string until;             ///< "2027-01-31"; empty: for good
  std::string reason;
  std::uint64_t hits = 0;

  /// "nanlens.mutes:4"
  [[nodiscard]] std::string place() const { return file + ":" + std::to_string(line); }
};

/// A line that does nothing, and why.
struct MuteProblem {
  std::string file;
  std::size_t line = 0;
  std::size_t column = 0;  ///< from 1; 0: the whole line
  viewer::Text what = viewer::Text::mutes_idle;
  std::string text;  ///< what stands there: a word, a date

  /// It can be read, and has matched nothing so far.
  [[nodiscard]] bool is_idle() const noexcept { return what == viewer::Text::mutes_idle; }
  /// Why, in the chosen language.
  [[nodiscard]] std::string message() const;
};

/// The marks of any number of files.
class Mutes {
 public:
  /// Adds the lines of a file. `today` is a date as in `until`.
  void read(const std::string& name, std::string_view text, std::string_view today);

  /// The first mark that fits; null if none does. Every one that fits has a hit more.
  const Mute* match(const MuteSubject& subject);

  /// What can't be read, has expired, or has matched nothing so far, by file and line.
  [[nodiscard]] std::vector<MuteProblem> problems() const;
  /// Is there no mark that could match?
  [[nodiscard]] bool empty() const noexcept { return marks_.empty(); }
  /// The names of what was read.
  [[nodiscard]] const std::vector<std::string>& files() const noexcept { return files_; }

 private:
  std::vector<std::string> files_;
  std::vector<Mute> marks_;
  std::vector<MuteProblem> problems_;
};

/// What marks are compared with, of a cause of a run.
MuteSubject mute_subject(const reader::Run& run, const causes::Sentence& sentence);

/// The conditions of a line that mutes this: what goes before " -- " and the reason.
std::string mute_conditions(const MuteSubject& subject);

/// Today's date in UTC, "2027-01-31".
std::string today();

}  // namespace nanlens::report
