/// @file
/// The rules that a command line names.
#pragma once

#include <string>
#include <vector>

#include <nanlens/query/rule.hpp>
#include <nanlens/reader/reader.hpp>

#include "findings/findings.hpp"

namespace nanlens::cli {

/// What a check judges by.
struct CheckRules {
  std::vector<query::Rule> rules;
  std::vector<findings::RuleFile> found;  ///< files that nobody named, with how many of these rules are theirs
  std::vector<std::string> hidden;        ///< which rules are left out, as nearer ones have their names: in words
};

/// Reads rules, and files of them; "standard" are those that ship. Without files, those of nanlens.rules in the logdir,
/// and of the nearest one from the working directory up to the root of its repository, are added; a null logdir has
/// none. Of two with one name that of the command line is taken, else that of the later file, else the logdir's. Throws
/// Failure, with the place marked, if one can't be read.
CheckRules read_rules(const std::vector<std::string>& rules, const std::vector<std::string>& files,
                      const reader::Logdir* logdir = nullptr, const std::string& path = {});

/// Rules for a program that is run, as NANLENS_RULES takes them; empty: there are none. Throws Failure if one can't be
/// read, or is not for a program to judge.
std::string program_rules(const std::vector<std::string>& rules, const std::vector<std::string>& files);

}  // namespace nanlens::cli
