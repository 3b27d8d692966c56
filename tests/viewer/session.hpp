/// @file
/// An engine that is asked and answers at once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "engine/engine.hpp"

namespace nanlens::test {

inline std::unique_ptr<reader::Storage> open_directory(const std::string& path, std::string&) {
  return std::make_unique<reader::DirectoryStorage>(path);
}

/// Holds the last answer of each kind.
class Session {
 public:
  explicit Session(viewer::OpenStorage open) : engine_(std::move(open)) {
    view.row_count = 100000;
    view.timeline_end = 1e9;
    view.alerts_count = 100000;
    view.timeline_columns = 100;
    view.overview_columns = 100;
    view.diagnostics = true;
    view.rules.count = 100000;
  }

  template <class What>
  std::uint64_t ask(What what) {
    engine_.handle({++serial_, std::move(what)});
    finish();
    return serial_;
  }
  /// The second request comes before the first one could be worked at.
  template <class First, class Second>
  void ask_both(First first, Second second) {
    engine_.handle({++serial_, std::move(first)});
    ask(std::move(second));
  }
  void show() { ask(view); }
  void open(const std::string& path) {
    show();
    ask(viewer::Open{{path}});
  }
  void select(viewer::IntentKind kind, std::int64_t index = 0, viewer::Focus focus = {}, bool by_op = false) {
    ask(viewer::Select{kind, index, by_op, std::move(focus)});
  }
  std::vector<std::uint64_t> filtered(const std::string& query) {
    view.filter = query;
    show();
    std::vector<std::uint64_t> found;
    for (const viewer::Row& row : rows.rows) found.push_back(row.index);
    return found;
  }

  viewer::View view;
  viewer::Overview overview;
  viewer::Rows rows;
  viewer::Timeline timeline;
  viewer::Selection selection;
  viewer::Alerts alerts;
  viewer::Source source;
  viewer::Diagnostics diagnostics;
  viewer::Search search;
  viewer::Explanation explanation;
  viewer::Exported exported;
  viewer::HeatMap heat_map;
  viewer::RuleList rules;
  viewer::FoundRules found_rules;
  viewer::Status status;
  int replies = 0;
  std::function<void(const viewer::Rows&)> watch_rows;  ///< sees every answer, not only the last one

 private:
  void finish() {
    bool more = true;
    while (more) {
      more = engine_.step();
      for (viewer::Reply& reply : engine_.take_replies()) {
        ++replies;
        std::visit([this](auto& what) { keep(what); }, reply);
      }
    }
  }
  void keep(viewer::Overview& r) { overview = std::move(r); }
  void keep(viewer::Rows& r) {
    if (watch_rows) watch_rows(r);
    rows = std::move(r);
  }
  void keep(viewer::Timeline& r) { timeline = std::move(r); }
  void keep(viewer::Selection& r) { selection = std::move(r); }
  void keep(viewer::Alerts& r) { alerts = std::move(r); }
  void keep(viewer::Source& r) { source = std::move(r); }
  void keep(viewer::Diagnostics& r) { diagnostics = std::move(r); }
  void keep(viewer::Search& r) { search = std::move(r); }
  void keep(viewer::Explanation& r) { explanation = std::move(r); }
  void keep(viewer::HeatMap& r) { heat_map = std::move(r); }
  // The parts of a list as one.
  void keep(viewer::Exported& r) {
    const std::string before = r.first ? "" : exported.text;
    exported = std::move(r);
    exported.text.insert(0, before);
  }
  void keep(viewer::RuleList& r) { rules = std::move(r); }
  void keep(viewer::FoundRules& r) { found_rules = std::move(r); }
  void keep(viewer::Status& r) { status = r; }

  viewer::Engine engine_;
  std::uint64_t serial_ = 0;
};

}  // namespace nanlens::test
