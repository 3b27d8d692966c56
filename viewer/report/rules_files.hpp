/// @file
/// Where rules of a logdir lie: `nanlens.rules`, a text file that belongs into version control, one rule per line as
/// `nanlens check --rules` reads it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nanlens/reader/storage.hpp>

namespace nanlens::report {

/// What a file of rules is called.
inline constexpr const char* rules_name = "nanlens.rules";
/// No file of rules is larger.
inline constexpr std::uint64_t most_rules_bytes = std::uint64_t{1} << 20;

/// A text of rules.
struct RulesFile {
  std::string name;  ///< as a message names it
  std::string path;  ///< empty: it can't be written, such as in an archive
  std::string text;
};

/// The outermost nanlens.rules among the files of a storage; empty if there is none.
std::string rules_in(reader::Storage& storage);

/// Reads that one. Nothing if there is none. Throws std::runtime_error if it can't be read.
std::vector<RulesFile> read_rules_in(reader::Storage& storage);

/// The same of what a user names as a logdir, which `storage` holds, and the nearest nanlens.rules from the working
/// directory up to the root of its repository.
std::vector<RulesFile> find_rules_of(reader::Storage& storage, const std::string& path);

/// Where rules for a logdir at this path are written: the nanlens.rules in it; empty where it is no directory.
std::string rules_file_for(const std::string& path);

/// Replaces a file of rules, which is made if it is not there. False if it can't be written, or is no longer as it
/// was: `before`.
bool replace_rules(const std::string& file, const std::string& before, const std::string& text);

}  // namespace nanlens::report
