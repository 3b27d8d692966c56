/// @file
/// The rules that a command line names.
#pragma once

#include <string>
#include <vector>

#include <nanlens/query/rule.hpp>

namespace nanlens::cli {

/// Reads rules, and files of them; "standard" are those that ship. Throws Failure, with the place marked, if one can't
/// be read.
std::vector<query::Rule> read_rules(const std::vector<std::string>& rules, const std::vector<std::string>& files);

}  // namespace nanlens::cli
