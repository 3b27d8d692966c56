// Where RE2 is not installed.
#include "regex/regex.hpp"

namespace nanlens::regex {

query::RegexCompiler compiler() noexcept { return nullptr; }

}  // namespace nanlens::regex
