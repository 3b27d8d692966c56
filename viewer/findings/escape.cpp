#include "escape.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace nanlens::findings {

namespace {

constexpr const char* replacement = "\xef\xbf\xbd";

// Bytes of the character at the begin of a text; 0 if it is none that UTF-8 allows.
std::size_t length_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool too_long = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool surrogate = first == 0xed && byte(1) > 0x9f;
  const bool too_large = first == 0xf4 && byte(1) > 0x8f;
  return too_long || surrogate || too_large ? 0 : length;
}

// Each character, as UTF-8, by what `put` makes of it.
template <class Put>
std::string each(std::string_view text, const Put& put) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = length_of(text);
    if (length == 0)
      out += replacement;
    else
      put(out, text.substr(0, length));
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

// Control characters of ASCII and Latin-1, and what separates lines or turns the direction of writing.
bool is_control(std::string_view c) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(c[i]); };
  if (c.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7f;
  if (c.size() == 2) return byte(0) == 0xc2 && byte(1) < 0xa0;
  if (c.size() != 3 || byte(0) != 0xe2) return false;
  return (byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae) ||
         (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9);
}

void put_visible(std::string& out, std::string_view c) {
  if (!is_control(c)) {
    out += c;
  } else if (c == "\n" || c == "\t" || c == "\r") {
    out += c == "\n" ? "\\n" : c == "\t" ? "\\t" : "\\r";
  } else {
    for (const char byte : c) {
      char code[8];
      std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
      out += code;
    }
  }
}

void put_xml(std::string& out, std::string_view c) {
  if (c == "&")
    out += "&amp;";
  else if (c == "<")
    out += "&lt;";
  else if (c == ">")
    out += "&gt;";
  else if (c == "\"")
    out += "&quot;";
  else if (c == "\r")
    out += "&#13;";  // else a parser makes a line break of it
  else if ((c < " " && c != "\n" && c != "\t") || c == "\xef\xbf\xbe" || c == "\xef\xbf\xbf")
    out += replacement;
  else
    out += c;
}

void put_percent(std::string& out, std::string_view c) {
  for (const char byte : c) {
    char code[8];
    std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    out += code;
  }
}

}  // namespace

std::string as_utf8(std::string_view text) {
  return each(text, [](std::string& out, std::string_view c) { out += c; });
}

std::string one_line(std::string_view text) { return each(text, put_visible); }

std::string xml_attribute(std::string_view text) {
  return each(text, [](std::string& out, std::string_view c) {
    if (c == "\n" || c == "\t")
      out += c == "\n" ? "&#10;" : "&#9;";
    else
      put_xml(out, c);
  });
}

std::string xml_text(std::string_view text) { return each(text, put_xml); }

std::string github_message(std::string_view text) {
  return each(text, [](std::string& out, std::string_view c) {
    if (c == "%" || c == "\r" || c == "\n")
      put_percent(out, c);
    else
      put_visible(out, c);
  });
}

std::string github_property(std::string_view text) {
  return each(text, [](std::string& out, std::string_view c) {
    if (c == "%" || c == "\r" || c == "\n" || c == ":" || c == ",")
      put_percent(out, c);
    else
      put_visible(out, c);
  });
}

std::string markdown(std::string_view text) {
  // What begins a list, a heading or a rule does so at the begin of a line only, behind a number too.
  const std::size_t start = std::min(text.find_first_not_of("0123456789"), text.size());
  const char* const first = text.data() + start;
  const char* const end = text.data() + text.size();
  return each(text, [first, end](std::string& out, std::string_view c) {
    constexpr std::string_view special = "\\`*_[]<>#|~&$@";
    const char* const next = c.data() + c.size();
    // ":tada:" and "http://" are more than their letters; "Log:0" is not.
    const bool colon = c == ":" && next != end && *next != ' ' && (*next < '0' || *next > '9');
    const bool begins = c.data() == first && std::string_view("-+=.)").find(c) != std::string_view::npos;
    if (colon || begins || (c.size() == 1 && special.find(c[0]) != std::string_view::npos)) out += '\\';
    put_visible(out, c);
  });
}

std::string markdown_code(std::string_view text, bool in_table) {
  std::string inside = one_line(text);
  std::size_t longest = 0;
  for (std::size_t i = 0, run = 0; i < inside.size(); ++i) {
    run = inside[i] == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  for (std::size_t at = 0; in_table && (at = inside.find('|', at)) != std::string::npos; at += 2)
    inside.insert(at, 1, '\\');
  const std::string fence(longest + 1, '`');
  const bool pad = inside.empty() || inside.starts_with('`') || inside.ends_with('`');
  return fence + (pad ? " " : "") + inside + (pad ? " " : "") + fence;
}

std::string uri_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/-._~").find(c) != std::string_view::npos;
    if (plain)
      out += c;
    else
      put_percent(out, std::string_view(&c, 1));
  }
  return out;
}

}  // namespace nanlens::findings
