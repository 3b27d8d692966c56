// The filter language: a query is parsed, taken apart, and asked of every row of a few runs.
#include <algorithm>
#include <chrono>
#include <cstdlib>

#include <nanlens/query/query.hpp>
#include <nanlens/reader/reader.hpp>

#include "edited_logdir.hpp"
#include "engine/rows.hpp"
#include "regex/regex.hpp"

namespace {

using namespace nanlens;
using Rows = std::vector<std::uint32_t>;

void require(bool holds) {
  if (!holds) std::abort();
}

// A run that stays open, with what a filter asks of it.
struct Subject {
  explicit Subject(const fuzz::FileSet& set) : logdir(fuzz::storage_of(set)) {
    logdir.update();
    reader::Run& run = *logdir.runs().front();
    index.emplace(run).refresh();
    explain.emplace(*index);
    while (explain->step(std::chrono::steady_clock::time_point::max())) {
    }
  }
  Rows passing(const std::string& query) {
    viewer::RowFilter rows(*index, *explain);
    rows.set_pinned({1, 2});
    viewer::Selection selection;
    selection.input_rows = {0, 3};
    selection.consumer_rows = {5};
    rows.set_roles(selection);
    rows.set(query, false);
    rows.restart();
    rows.grow(false);  // a run without graphs lists its executions
    while (rows.step(std::chrono::steady_clock::time_point::max())) {
    }
    viewer::View view;
    view.row_count = 4;
    viewer::Focus first;
    first.execution = first.trace = 0;
    require(rows.fill(view, first).filter_error.empty());
    return rows.shown();
  }

  reader::Logdir logdir;
  std::optional<viewer::RunIndex> index;
  std::optional<viewer::Explain> explain;
};

std::vector<std::unique_ptr<Subject>>& subjects() {
  static std::vector<std::unique_ptr<Subject>> all = [] {
    std::vector<std::unique_ptr<Subject>> made;
    for (const fuzz::FileSet& set : fuzz::base_sets()) made.push_back(std::make_unique<Subject>(set));
    return made;
  }();
  return all;
}

bool reads(const std::string& text) {
  query::Error error;
  if (query::parse(text, error, regex::compiler())) return true;
  require(!query::words(error).empty());
  require(error.begin <= error.end && error.end <= text.size());
  return false;
}

// The parts that the viewer shows one by one are queries, and together mean the whole.
std::string together(const std::string& text) {
  std::string all;
  for (const std::string& part : query::parts(text)) {
    require(reads(part));
    all.append(all.empty() ? "" : " ").append(part);
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (!reads(text)) return 0;
  const std::string all = together(text);
  const std::string none = "not (" + text + "\n)";
  for (const auto& subject : subjects()) {
    const Rows passing = subject->passing(text);
    require(std::is_sorted(passing.begin(), passing.end()));
    require(subject->passing(all) == passing);
    query::Error error;
    if (text.find_first_not_of(" \t\n\v\f\r") == std::string::npos || !query::parse(none, error, regex::compiler()))
      continue;
    require(subject->passing(none).size() + passing.size() == subject->index->run().num_traces());
  }
  return 0;
}
