// The view as a link (the page's hash, the desktop's --view), and the settings that outlive a session.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "app/app.hpp"
#include "app/json_text.hpp"

namespace nanlens::viewer {

namespace {

std::string percent_encode(const std::string& text) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::strchr("-_.~/", c) != nullptr) {
      out += c;
    } else {
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out;
}

std::string percent_decode(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && std::isxdigit(static_cast<unsigned char>(text[i + 1])) != 0) {
      out += static_cast<char>(std::strtol(text.substr(i + 1, 2).c_str(), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::map<std::string, std::string> parse(const std::string& link) {
  std::map<std::string, std::string> parts;
  std::size_t at = link.starts_with('#') ? 1 : 0;
  while (at < link.size()) {
    std::size_t end = link.find('&', at);
    if (end == std::string::npos) end = link.size();
    const std::size_t equals = link.find('=', at);
    if (equals != std::string::npos && equals < end)
      parts[link.substr(at, equals - at)] = percent_decode(link.substr(equals + 1, end - equals - 1));
    at = end + 1;
  }
  return parts;
}

std::vector<double> numbers(const std::string& text) {
  std::vector<double> out;
  const char* at = text.c_str();
  for (char* end = nullptr; *at != '\0'; at = *end == ',' ? end + 1 : end) {
    const double value = std::strtod(at, &end);
    if (end == at || !std::isfinite(value)) break;
    out.push_back(value);
  }
  return out;
}

// A run by the beginning of its id, as long as it takes to tell it from other ids; where several have the same id, with
// "~" and which of these it is.
std::string tag_of(const std::vector<RunInfo>& runs, const RunInfo& run) {
  std::size_t length = 8;
  std::size_t nth = 0;
  std::size_t same = 0;
  for (const RunInfo& r : runs) {
    if (&r == &run) nth = same;
    if (r.run_id == run.run_id) ++same;
    if (r.run_id == run.run_id || run.run_id.empty()) continue;
    const auto differ = std::mismatch(r.run_id.begin(), r.run_id.end(), run.run_id.begin(), run.run_id.end()).second;
    length = std::max(length, static_cast<std::size_t>(differ - run.run_id.begin()) + 1);
  }
  return run.run_id.substr(0, length) + (same > 1 || run.run_id.empty() ? "~" + std::to_string(nth) : "");
}

const RunInfo* find_run(const std::vector<RunInfo>& runs, const std::string& tag) {
  const std::size_t tilde = tag.rfind('~');
  const std::string id = tag.substr(0, tilde);
  long nth = tilde == std::string::npos ? 0 : std::strtol(tag.c_str() + tilde + 1, nullptr, 10);
  if (nth < 0) return nullptr;
  for (const RunInfo& r : runs)
    if ((id.empty() ? r.run_id.empty() : r.run_id.starts_with(id)) && nth-- == 0) return &r;
  return nullptr;
}

// A view link never needs a float's full digits.
std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

Json windows_json(const Layout& layout) {
  Json list = Json::array();
  for (const Rect& r : layout.windows) list.push_back({r.x, r.y, r.w, r.h});
  return list;
}

void read_windows(const Json& list, Layout& layout) {
  for (std::size_t i = 0; i < layout.windows.size() && i < list.size(); ++i) {
    const auto r = list[i].get<std::array<float, 4>>();
    layout.windows[i] = {r[0], r[1], r[2], r[3]};
  }
}

// Names need not be UTF-8, as JSON must be: their bytes are kept as percent codes where they would not survive.
std::string name_for_json(const std::string& name) {
  const bool plain =
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return c >= ' ' && c != '%' && c < 0x7f; });
  return plain ? name : percent_encode(name);
}

Json expected_json(const std::map<std::string, std::set<std::string>>& expected) {
  Json out = Json::object();
  for (const auto& [run, sites] : expected) {
    Json& list = out[name_for_json(run)] = Json::array();
    for (const std::string& site : sites) list.push_back(name_for_json(site));
  }
  return out;
}

std::map<std::string, std::set<std::string>> expected_of(const Json& json) {
  std::map<std::string, std::set<std::string>> expected;
  for (const auto& [run, sites] : json.items())
    for (const std::string& site : sites.get<std::vector<std::string>>())
      expected[percent_decode(run)].insert(percent_decode(site));
  return expected;
}

Json pins_json(const std::map<std::string, std::vector<std::int64_t>>& pins) {
  Json out = Json::object();
  for (const auto& [run, rows] : pins) out[name_for_json(run)] = rows;
  return out;
}

std::map<std::string, std::vector<std::int64_t>> pins_of(const Json& json) {
  std::map<std::string, std::vector<std::int64_t>> pins;
  for (const auto& [run, rows] : json.items()) pins[percent_decode(run)] = rows.get<std::vector<std::int64_t>>();
  return pins;
}

/// The parts of a link by their names.
class LinkParts {
 public:
  explicit LinkParts(const std::string& link) : parts_(parse(link)) {}
  [[nodiscard]] bool is_link() const { return parts_.contains("nl"); }
  /// "" if there is no such part.
  [[nodiscard]] std::string operator[](const char* name) const {
    const auto found = parts_.find(name);
    return found == parts_.end() ? std::string() : found->second;
  }

 private:
  std::map<std::string, std::string> parts_;
};

// What is to be selected: a row, an op, an execution or nothing.
Select wish_of(const LinkParts& parts) {
  Select wish;
  wish.kind = IntentKind::focus;
  if (const std::string t = parts["t"]; !t.empty()) {
    wish.focus.trace = std::atoll(t.c_str());
  } else if (const std::string op = parts["op"]; !op.empty()) {
    const std::size_t first = op.find('~');
    const std::size_t last = op.rfind('~');
    if (first == std::string::npos || last <= first) return wish;
    wish.kind = IntentKind::op;
    wish.focus.graph_id = op.substr(0, first);
    wish.focus.op_name = op.substr(first + 1, last - first - 1);
    wish.focus.slot = std::atoi(op.c_str() + last + 1);
  } else if (const std::string x = parts["x"]; !x.empty()) {
    wish.focus.execution = std::atoll(x.c_str());
  } else {
    wish.kind = IntentKind::clear;
  }
  return wish;
}

void apply_rows(App& app, const LinkParts& parts) {
  app.command("filter", {{"query", parts["q"]}});
  app.rows_pane.only_bad = parts["bad"] == "1";
  const std::string order = parts["so"];
  const std::size_t comma = std::min(order.find(','), order.size());
  app.command("sort", {{"column", order.substr(0, comma)}, {"descending", order.ends_with(",d")}});
  app.rows_pane.pins.clear();
  const std::string pins = parts["pin"];
  for (std::size_t at = pins.find('t'); at != std::string::npos; at = pins.find('t', at + 1))
    app.command("pin", {{"trace", std::atoll(pins.c_str() + at + 1)}});
}

void apply_timeline(App& app, const std::string& range) {
  const auto n = numbers(range);
  if (n.size() < 2 || n[1] <= n[0]) return;
  constexpr double longest = 1e9;  // seconds
  const bool by_time = range.ends_with(",t");
  const double most = by_time ? longest : static_cast<double>(app.run().num_executions);
  if (n[0] < 0 || n[0] >= most) return;
  app.timeline_pane.time_mode = by_time;
  app.timeline_pane.fitted = true;
  app.timeline_pane.begin = n[0];
  app.timeline_pane.end = std::min(n[1], most);
}

// A pane by its number from 1 on; nothing if there is none.
std::optional<Pane> pane_numbered(const std::string& text) {
  const int pane = std::atoi(text.c_str()) - 1;
  return pane >= 0 && pane < static_cast<int>(num_panes) ? std::optional(static_cast<Pane>(pane)) : std::nullopt;
}

void apply_panes(App& app, const LinkParts& parts) {
  if (const auto active = pane_numbered(parts["pane"])) app.active = *active;
  if (const auto maximized = pane_numbered(parts["max"])) app.layout.maximized = maximized;
  if (const std::string hops = parts["h"]; !hops.empty()) app.command("graph_hops", {{"n", std::atoi(hops.c_str())}});
  if (const std::string by = parts["by"]; !by.empty()) app.command("group_alerts", {{"by", by}});
  auto& at = app.layout.at;
  if (const auto splits = numbers(parts["sp"]); splits.size() == at.size())
    for (std::size_t i = 0; i < splits.size(); ++i)
      at[i] = std::clamp(static_cast<float>(splits[i] / 100), 0.05f, 0.95f);
  if (const std::string theme = parts["th"]; !theme.empty()) app.command("theme", {{"name", theme}});
}

}  // namespace

// What can't have a window of its own here is where it was before.
void App::read_layout(const std::string& text) {
  layout.read(platform.can_detach ? text : text.substr(0, text.find('-')));
}

std::string App::link() const {
  if (overview.run < 0) return pending_link_;
  std::string out = "nl=1";
  const auto add = [&](const char* key, const std::string& value) {
    out += std::string("&") + key + "=" + percent_encode(value);
  };
  const RunInfo& run = this->run();
  add("run", tag_of(overview.runs, run));
  const Focus& f = selection.focus;
  if (f.trace >= 0)
    add("t", std::to_string(f.trace));
  else if (!f.op_name.empty())
    add("op", f.graph_id + "~" + f.op_name + "~" + std::to_string(f.slot));
  else if (f.execution >= 0)
    add("x", std::to_string(f.execution));
  if (const Tab* const shown = tab(); shown != nullptr && shown->line > 0)
    add("src", shown->path + "~" + std::to_string(shown->line));
  if (rows_pane.filter[0] != '\0') add("q", rows_pane.filter);
  if (rows_pane.only_bad) add("bad", "1");
  if (!rows_pane.sort.empty()) add("so", rows_pane.sort + (rows_pane.sort_descending ? ",d" : ",a"));
  if (timeline_pane.end > 0)
    add("tl", short_number(timeline_pane.begin) + "," + short_number(timeline_pane.end) +
                  (timeline_pane.time_mode ? ",t" : ",o"));
  // Without it, what opens the link scrolls to the selected row.
  if (const double first = std::floor(rows_pane.first); first >= 1 || first_with_selection() > rows_pane.first)
    add("gx", std::to_string(std::llround(first)));
  std::string pins;
  for (const std::int64_t row : rows_pane.pins) pins.append(pins.empty() ? "t" : ",t").append(std::to_string(row));
  if (!pins.empty()) add("pin", pins);
  if (active != Pane::alerts) add("pane", std::to_string(static_cast<int>(active) + 1));
  if (layout.maximized) add("max", std::to_string(static_cast<int>(*layout.maximized) + 1));
  if (graph_pane.hops > 1) add("h", std::to_string(graph_pane.hops));
  if (alerts_pane.by != "op") add("by", alerts_pane.by);
  if (stack_pane.frame >= 0) add("fr", std::to_string(stack_pane.frame));
  if (layout.at != Layout::defaults) {
    std::string splits;
    for (const float at : layout.at)
      splits += (splits.empty() ? "" : ",") + std::to_string(static_cast<int>(std::lround(100 * at)));
    add("sp", splits);
  }
  if (!layout.is_default()) add("lay", layout.text());
  if (theme_choice != "system") add("th", theme_choice);
  return out;
}

std::string App::linked_run() const {
  if (pending_link_.empty()) return {};
  const auto parts = parse(pending_link_);
  const auto run = parts.find("run");
  return run == parts.end() ? "?" : run->second;
}

void App::apply_link(const std::string& link) {
  const LinkParts parts(link);
  if (!parts.is_link()) return;
  if (overview.run < 0) {
    pending_link_ = link;
    wake();
    return;
  }
  if (const std::string tag = parts["run"]; !tag.empty()) {
    const RunInfo* const wanted = find_run(overview.runs, tag);
    if (wanted == nullptr) {
      toast(tr(Text::link_other_run, {{"run", run().run_id}}));
    } else if (wanted->key != run().key) {
      pending_link_ = link;
      first_bad_done_ = false;
      send(SelectRun{wanted->key});
      return;
    }
  }
  select(wish_of(parts));
  apply_rows(*this, parts);
  apply_timeline(*this, parts["tl"]);
  if (const auto row = numbers(parts["gx"]); !row.empty() && row[0] >= 0) linked_row_ = row[0];
  if (const std::string frame = parts["fr"]; !frame.empty()) linked_frame_ = std::atoll(frame.c_str());
  if (const std::string tree = parts["lay"]; !tree.empty()) read_layout(tree);
  apply_panes(*this, parts);
}

void App::publish_link() {
  if (!platform.set_link || overview.run < 0 || overview.loading || status_.serial != serial_ || !pending_link_.empty())
    return;
  std::string now_link = link();
  if (now_link == link_ || now - link_time_ < 0.25) {
    if (now_link != link_) wake(1);
    return;
  }
  const bool other_selection = history_at_ < history_.size() && history_[history_at_].when > link_time_;
  link_time_ = now;
  link_ = std::move(now_link);
  platform.set_link(link_, other_selection);
}

void App::keep_of_run() {
  if (overview.run < 0) return;
  const std::string& id = run().run_id;
  if (alerts_pane.expected.empty())
    expected_of_run_.erase(id);
  else
    expected_of_run_[id] = alerts_pane.expected;
  if (rows_pane.pins.empty())
    pins_of_run_.erase(id);
  else
    pins_of_run_[id] = rows_pane.pins;
}

// To look for a change costs a good part of a frame: that waits until nothing moves, or a second where something always
// does.
bool App::settings_due() const {
  constexpr double often_enough = 1;
  return settings_.empty() || frames_wanted_ == 0 || now - settings_time_ >= often_enough;
}

void App::save_settings() {
  if (!platform.save_settings) return;
  settings_time_ = now;
  Json rules = Json::object();
  for (const auto& [id, kept] : rules_of_run_) rules[id] = {{"of", kept.of}, {"text", kept.text}};
  Json s = {{"theme", theme_choice},
            {"scale", user_scale},
            {"language", language_choice},
            {"splits", layout.at},
            {"layout", layout.text()},
            {"windows", windows_json(layout)},
            {"fold_library", stack_pane.fold_library},
            {"follow", follow},
            {"row_height", rows_pane.row_height},
            {"expected", expected_json(expected_of_run_)},
            {"pins", pins_json(pins_of_run_)},
            {"rules", std::move(rules)},
            {"columns_shown", rows_pane.forced},
            {"columns_hidden", rows_pane.hidden}};
  std::string text = json_text(s);
  if (text == settings_) return;
  const bool first = settings_.empty();
  settings_ = std::move(text);
  if (!first) platform.save_settings(settings_);
}

void App::apply_settings(const std::string& text) {
  const Json s = json_of(text);
  if (!s.is_object()) return;
  try {
    theme_choice = s.value("theme", theme_choice);
    user_scale = std::clamp(s.value("scale", user_scale), 0.5f, 3.0f);
    command("language", {{"tag", s.value("language", "system")}});
    if (s.contains("splits") && s["splits"].is_array() && s["splits"].size() == layout.at.size())
      for (std::size_t i = 0; i < layout.at.size(); ++i)
        layout.at[i] = std::clamp(s["splits"][i].get<float>(), 0.05f, 0.95f);
    read_layout(s.value("layout", layout.text()));
    if (s.contains("windows")) read_windows(s["windows"], layout);
    stack_pane.fold_library = s.value("fold_library", true);
    follow = s.value("follow", true);
    rows_pane.row_height = std::clamp(s.value("row_height", rows_pane.row_height), 18.0f, 30.0f);
    if (s.contains("expected") && s["expected"].is_object()) expected_of_run_ = expected_of(s["expected"]);
    if (s.contains("pins") && s["pins"].is_object()) pins_of_run_ = pins_of(s["pins"]);
    if (s.contains("rules") && s["rules"].is_object())
      for (const auto& [id, kept] : s["rules"].items())
        rules_of_run_[id] = {kept.at("of").get<std::string>(), kept.at("text").get<std::string>()};
    if (s.contains("columns_shown")) rows_pane.forced = s["columns_shown"].get<std::set<std::string>>();
    if (s.contains("columns_hidden")) rows_pane.hidden = s["columns_hidden"].get<std::set<std::string>>();
  } catch (const Json::exception&) {
    toast(tr(Text::settings_lost));
  }
}

}  // namespace nanlens::viewer
