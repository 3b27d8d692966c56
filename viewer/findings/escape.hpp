/// @file
/// Names come from programs and hold anything: what each format makes of it.
#pragma once

#include <string>
#include <string_view>

namespace nanlens::findings {

/// Valid UTF-8: every byte that is not becomes U+FFFD.
std::string as_utf8(std::string_view text);

/// Valid UTF-8 on one line that a terminal and a log show as it is: control characters as \n, \t, \x1b.
std::string one_line(std::string_view text);

/// For a double-quoted attribute of XML 1.0; characters that XML lacks become U+FFFD.
std::string xml_attribute(std::string_view text);

/// The same for text between tags, whose line breaks stay.
std::string xml_text(std::string_view text);

/// For the message of a GitHub workflow command.
std::string github_message(std::string_view text);

/// For a property of a GitHub workflow command, such as file=.
std::string github_property(std::string_view text);

/// As plain text of CommonMark with tables, on one line.
std::string markdown(std::string_view text);

/// As code within a line of CommonMark; `in_table`: within a cell of a table, where a bar needs an escape.
std::string markdown_code(std::string_view text, bool in_table = false);

/// A path as a URI reference: what is reserved in one is percent-encoded, byte by byte; '/' stays.
std::string uri_path(std::string_view path);

}  // namespace nanlens::findings
