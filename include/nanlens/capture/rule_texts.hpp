/// @file
/// Reads the rules that a program, or its environment, names.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nanlens/capture/rule_engine.hpp>
#include <nanlens/config.hpp>
#include <nanlens/query/calls.hpp>
#include <nanlens/query/nearest_rules.hpp>
#include <nanlens/query/rule_reader.hpp>
#include <nanlens/query/standard_rules.hpp>
#include <nanlens/query/tensor_conditions.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// The text of a regular file. What is none is not read, nor waited for: false, with `why`.
inline bool read_rules_file(const std::string& path, std::string& text, std::string& why) {
  constexpr std::size_t most = std::size_t{1} << 20;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info{};
  if (fd < 0)
    why = "can't read the rules in '" + path + "': " + std::strerror(errno);
  else if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
    why = "can't read the rules in '" + path + "': it is no regular file";
  text.resize(why.empty() ? most + 1 : 0);  // it may grow
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t n = ::read(fd, text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) why = "can't read the rules in '" + path + "': " + std::strerror(errno);
    if (n <= 0) break;
    size += static_cast<std::size_t>(n);
  }
  text.resize(size);
  if (fd >= 0) ::close(fd);
  if (size > most) why = "'" + path + "' is larger than 1 MB: it is no file of rules";
  return why.empty();
}

/// Reads items of DumpOptions::rules: a rule, "standard", or @ and the path of a file. Of two rules with one name one
/// that is an item itself is taken, else that of the later file.
class RuleTextReader {
 public:
  RuleTextReader(void (*say)(void* to, TextRef what), void* to) : say_(say), to_(to) {}

  void read(std::string_view item) {
    if (item == "standard") return add(query::standard_rules, {"standard", ++files_});
    if (!item.starts_with('@')) return add(item, {"", own});
    const std::string path(item.substr(1));
    std::string text;
    std::string why;
    if (!read_rules_file(path, text, why)) return say(why);
    add(text, {path, ++files_});
  }
  /// Says which rules ask what the recording does not tell.
  void say_unjudged(TensorDebugMode mode, bool statistics) const {
    std::string names;
    std::string wanted;
    for (const query::Rule& rule : rules_.list()) {
      const std::string_view missing = first_missing(rule, mode, statistics);
      if (missing.empty()) continue;
      names += (names.empty() ? "\"" : ", \"") + rule.name + "\"";
      const std::string name(missing);
      if ((", " + wanted + ",").find(", " + name + ",") == std::string::npos)
        wanted += (wanted.empty() ? "" : ", ") + name;
    }
    if (!names.empty())
      say("rules ask what is not recorded (" + wanted + "; FULL_HEALTH and .statistics = true tell all): " + names);
  }
  [[nodiscard]] std::vector<query::Rule> rules() && { return std::move(rules_).take(); }

 private:
  static constexpr int own = 1 << 30;  // nearer than any file

  void say(const std::string& what) const { say_(to_, std::string_view(what)); }
  void say_left_out(const std::string& place, std::string_view text, const query::Error& error) const {
    say(place + "a rule is left out: " + query::words(error) + "\n" + query::marked(text, error));
  }
  // A rule of its own has no number of a line.
  void add(std::string_view text, const query::RulePlace& place) {
    using query::detail::Grammar;
    std::vector<query::Rule> read;
    query::detail::read_rules(text, read, nullptr, Grammar::rule_in_program, [&](const query::RuleFault& fault) {
      const bool own_item = place.name.empty();
      say_left_out(own_item ? "" : place.name + ":" + std::to_string(fault.line) + ": ", fault.text, fault.error);
      return true;
    });
    for (query::Rule& rule : read) {
      const std::string name = rule.name;
      const auto problem = rules_.add(std::move(rule), place, [&](const auto& far, const auto& near) {
        say("the rule \"" + name + "\" of " + far.name + " is left out: " +
            (near.name.empty() ? "one that is given by itself" : "one of " + near.name) + " has its name");
      });
      if (!problem) continue;
      const std::string_view whole = place.name.empty() ? text : std::string_view(name);
      say_left_out(place.name.empty() ? "" : place.name + ": ", whole,
                   {0, std::min(whole.find(':'), whole.size()), *problem, name});
    }
  }
  // A name of what no output of such a recording tells; empty: it tells all.
  static std::string_view first_missing(const query::Rule& rule, TensorDebugMode mode, bool statistics) {
    std::string_view name;
    const auto look = [&](std::string_view what, bool told) {
      if (!told && name.empty()) name = what;
      return false;
    };
    const auto look_at = [&](query::NumberField field) {
      const bool has_statistics = statistics || mode == TensorDebugMode::full_tensor;
      return look(name_of(field), query::tells_needed(mode, has_statistics, query::needed_for(field)));
    };
    query::detail::any_within(rule.conditions.rows.root, [&](const query::Node& node) {
      if (node.asks_number()) return look_at(node.number_field);
      if (node.kind == query::Node::Kind::text && node.text_field == query::TextField::dtype)
        return look("dtype", tells_dtype(*node.match, mode));
      const bool of_health =
          node.kind == query::Node::Kind::flag && (node.flag == query::Flag::bad || node.flag == query::Flag::ok);
      if (of_health) return look(node.flag == query::Flag::bad ? "bad" : "ok", tells(mode, Told::health));
      if (node.kind == query::Node::Kind::flag && node.flag == query::Flag::constant)
        return look("constant", query::tells_needed(mode, false, query::Needed::non_finite_counts));
      return false;
    });
    for (const query::Change& change : rule.conditions.changes) look_at(change.field);
    return name;
  }
  // Is the dtype told, or is the answer the same for all floating ones, or for all others?
  static bool tells_dtype(const query::Match& match, TensorDebugMode mode) {
    if (mode == TensorDebugMode::full_tensor || summary_places(mode).dtype != 0) return true;
    logdir::TensorHealth floating;
    floating.flags = logdir::has_summary_flag;
    return query::detail::ask_dtype(match, mode, floating) != query::Truth::unknown ||
           query::detail::ask_dtype(match, mode, {}) != query::Truth::unknown;
  }

  void (*say_)(void* to, TextRef what);
  void* to_;
  int files_ = 0;
  query::NearestRules rules_;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
