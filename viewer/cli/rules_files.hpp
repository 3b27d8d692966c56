/// @file
/// The rules that a command line names.
#pragma once

#include <string>
#include <vector>

#include <nanlens/query/rule.hpp>
#include <nanlens/reader/reader.hpp>

#include "findings/findings.hpp"

namespace nanlens::cli {

/// Reads rules, and files of them; "standard" are those that ship. Throws Failure, with the place marked, if one can't
/// be read.
std::vector<query::Rule> read_rules(const std::vector<std::string>& rules, const std::vector<std::string>& files);

/// Adds those of nanlens.rules in the logdir, and of the nearest one from the working directory up to the root of its
/// repository. Returns which files these are. Throws Failure as above.
std::vector<findings::RuleFile> add_found_rules(const reader::Logdir& logdir, const std::string& path,
                                                std::vector<query::Rule>& rules);

/// The same of rules for a program that is run, as NANLENS_RULES takes them; empty: there are none. Throws Failure if
/// one can't be read, or is not for a program to judge.
std::string program_rules(const std::vector<std::string>& rules, const std::vector<std::string>& files);

}  // namespace nanlens::cli
