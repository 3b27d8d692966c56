// Requests to the engine, in any order and however much it has worked in between, while its logdirs grow.
#include <chrono>
#include <cstdlib>
#include <limits>

#include <nanlens/logdir/decode.hpp>

#include "edited_logdir.hpp"
#include "engine/engine.hpp"
#include "engine/message.hpp"

namespace {

using namespace nanlens;

void require(bool holds) {
  if (!holds) std::abort();
}

// Files that others may add to while the engine has them open.
class Shared final : public reader::Storage {
 public:
  explicit Shared(reader::MemoryStorage& files) : files_(files) {}
  std::vector<std::string> list(std::string_view prefix) override { return files_.list(prefix); }
  std::unique_ptr<reader::ByteSource> open(const std::string& name, std::string& why) override {
    return files_.open(name, why);
  }

 private:
  reader::MemoryStorage& files_;
};

const std::string& text_of(fuzz::Bytes& input) {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all = {
        "",       "rows",      "alerts",   "report",  "index",     "tensor",  "op",     "health", "dtype",   "shape",
        "size",   "graph",     "call",     "time",    "device",    "line",    "class",  "Log",    "MatMul",  "g1",
        "op1",    "localhost", "host",     "bad",     "first bad", "/L.g/",   "op:1",   "nan>0",  "input",   "consumer",
        "made",   "row:5..",   "exec:1",   "file:py", "mode:FULL", "pinned",  "time>0", "(",      "type:L*", "not ok",
        "InfNan", "step",      "expected", "cause",   "call:step", "fn:main", "1",      "a b",    "zero>1%", "\xff"};
    for (const auto& set : fuzz::base_sets())
      for (const std::size_t kind : {1U, 3U})  // source files and graphs: their paths and names
        for (std::size_t i = 0; i < std::min<std::size_t>(6, set[kind].size()); ++i) {
          logdir::DebugEvent event;
          if (!logdir::decode({fuzz::bytes_of(set[kind][i]), set[kind][i].size()}, event)) continue;
          if (const auto* file = std::get_if<logdir::SourceFile>(&event.what)) all.push_back(file->file_path);
          if (const auto* graph = std::get_if<logdir::DebuggedGraph>(&event.what)) all.push_back(graph->graph_id);
          if (const auto* op = std::get_if<logdir::GraphOpCreation>(&event.what)) all.push_back(op->op_name);
        }
    return all;
  }();
  return texts[input.byte() % texts.size()];
}

// Mostly what there may be, sometimes what there can't be.
std::int64_t number_of(fuzz::Bytes& input) {
  const std::uint8_t how = input.byte();
  if (how < 200) return how % 64 - 2;
  constexpr std::int64_t odd[] = {1000,
                                  65535,
                                  1LL << 31,
                                  (1LL << 53) + 1,
                                  -1000,
                                  std::numeric_limits<std::int64_t>::max(),
                                  std::numeric_limits<std::int64_t>::min()};
  return odd[how % std::size(odd)];
}

double place_of(fuzz::Bytes& input) {
  const std::uint8_t how = input.byte();
  if (how < 220) return how / 4.0 - 2;
  constexpr double odd[] = {
      1e-9, 1e9, 1e300, -1e300, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()};
  return odd[how % std::size(odd)];
}

viewer::Focus focus_of(fuzz::Bytes& input) {
  viewer::Focus focus;
  focus.execution = number_of(input);
  focus.trace = number_of(input);
  focus.graph_id = text_of(input);
  focus.op_name = text_of(input);
  focus.slot = static_cast<std::int32_t>(number_of(input));
  return focus;
}

viewer::Select select_of(fuzz::Bytes& input) {
  viewer::Select wish;
  wish.kind = static_cast<viewer::IntentKind>(input.byte() % (static_cast<int>(viewer::IntentKind::clear) + 1));
  wish.index = number_of(input);
  wish.by_op = input.byte() % 2 != 0;
  if (wish.kind == viewer::IntentKind::focus || wish.kind == viewer::IntentKind::op) wish.focus = focus_of(input);
  return wish;
}

// Changes one thing of what is on screen.
void change(viewer::View& view, fuzz::Bytes& input) {
  const auto some = [&] { return static_cast<std::uint32_t>(number_of(input)); };
  switch (input.byte() % 18) {
    case 0: view.filter = input.byte() % 2 != 0 ? input.text() : text_of(input); break;
    case 1: view.only_bad = !view.only_bad; break;
    case 2: view.sort = text_of(input); break;
    case 3: view.sort_descending = !view.sort_descending; break;
    case 4: view.row_first = static_cast<std::uint64_t>(number_of(input)); break;
    case 5: view.row_count = some(); break;
    case 6: view.minimap_cells = some(); break;
    case 7: view.pinned.push_back(number_of(input)); break;
    case 8: view.time_mode = !view.time_mode; break;
    case 9: view.timeline_begin = place_of(input); break;
    case 10: view.timeline_end = place_of(input); break;
    case 11: view.timeline_columns = some(); break;
    case 12: view.overview_columns = some(); break;
    case 13: view.alerts_by = text_of(input); break;
    case 14: (input.byte() % 2 != 0 ? view.alerts_folded : view.alerts_expected).push_back(text_of(input)); break;
    case 15:
      view.alerts_first = static_cast<std::uint64_t>(number_of(input));
      view.alerts_count = some();
      break;
    case 16:
      (input.byte() % 2 != 0 ? view.source_path : view.beside_path) = text_of(input);
      view.source_host = text_of(input);
      view.hops = some();
      break;
    default:
      view.diagnostics = !view.diagnostics;
      view.tongue = static_cast<viewer::Tongue>(input.byte() % viewer::tongue_tags.size());
      view.search = text_of(input);
  }
}

class Session {
 public:
  explicit Session(fuzz::Bytes& input) : input_(input) {
    for (std::size_t i = 0; i < std::size(files_); ++i) files_[i] = fuzz::edited_logdir(input);
    view_.row_count = view_.alerts_count = 50;
    view_.timeline_columns = view_.overview_columns = 20;
  }

  void one() {
    switch (input_.byte() % 16) {
      case 0: open(); break;
      case 1: ask(viewer::Close{}); break;
      case 2: ask(viewer::SelectRun{static_cast<std::uint64_t>(number_of(input_))}); break;
      case 3: ask(viewer::Cancel{}); break;
      case 4: ask(viewer::Reload{input_.byte() % 2 != 0}); break;
      case 5: ask(viewer::Export{text_of(input_), input_.byte() % 2 != 0}); break;
      case 6:
      case 7:
      case 8: ask(select_of(input_)); break;
      case 9: grow(); break;
      case 10: work(input_.byte() % 8); break;
      case 11: finish(); break;
      default:
        for (std::size_t n = 1 + input_.byte() % 4; n > 0; --n) change(view_, input_);
        ask(view_);
    }
  }
  void open() { ask(viewer::Open{{std::to_string(input_.byte() % 4), std::to_string(input_.byte() % 4)}, ++opened_}); }
  void finish() {
    // Nothing that is asked takes more slices than this, growing or not.
    constexpr int most = 10000;
    work(most);
    require(!busy_);
  }

 private:
  template <class What>
  void ask(What what) {
    viewer::Request request{++serial_, std::move(what)};
    check_bytes(request);
    engine_.handle(std::move(request));
    busy_ = true;
  }
  void grow() {
    reader::MemoryStorage& files = *files_[input_.byte() % std::size(files_)];
    const auto names = files.list();
    const auto& base = fuzz::base_sets()[input_.byte() % fuzz::base_sets().size()];
    const auto& records = base[input_.byte() % base.size()];
    if (names.empty() || records.empty()) return;
    std::string more;
    for (std::size_t n = input_.number(8); n > 0; --n)
      fuzz::append_record(more, records[input_.number(records.size())]);
    files.append(names[input_.number(names.size())], more);
  }
  void work(int slices) {
    for (bool more = true; more && slices > 0; --slices) {
      more = engine_.step();
      for (const viewer::Reply& reply : engine_.take_replies()) {
        check_bytes(reply);
        std::visit([this](const auto& what) { check(what); }, reply);
      }
      busy_ = more;
    }
  }
  // What goes to the page comes back as it was.
  template <class Message>
  static void check_bytes(const Message& message) {
    std::string once;
    viewer::write_message(message, once);
    Message read;
    require(viewer::read_message(once.data(), once.size(), read));
    std::string again;
    viewer::write_message(read, again);
    require(once == again);
  }
  template <class Topic>
  void check(const Topic&) const {}
  void check(const viewer::Overview& o) const {
    require(o.run >= -1 && o.run < static_cast<std::int64_t>(o.runs.size()));
    require(o.generation <= opened_);
  }
  void check(const viewer::Rows& r) const {
    require(r.shown <= r.total && r.rows.size() <= r.shown);
    for (const viewer::Row& row : r.rows) require(row.index < r.total);
  }
  void check(const viewer::Status& s) const { require(s.serial <= serial_); }

  fuzz::Bytes& input_;
  std::unique_ptr<reader::MemoryStorage> files_[3];
  viewer::Engine engine_{[this](const std::string& path, std::string& why) -> std::unique_ptr<reader::Storage> {
    const auto at = static_cast<std::size_t>(std::atoi(path.c_str()));
    if (at < std::size(files_)) return std::make_unique<Shared>(*files_[at]);
    why = "there is no such logdir";
    return nullptr;
  }};
  viewer::View view_;
  std::uint64_t serial_ = 0;
  std::uint64_t opened_ = 0;
  bool busy_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int most_requests = 60;
  fuzz::Bytes input(data, size);
  viewer::set_tongue(viewer::Tongue::english);
  Session session(input);
  session.open();
  if (input.byte() % 2 != 0) session.finish();
  for (int i = 0; i < most_requests && !input.empty(); ++i) session.one();
  session.finish();
  return 0;
}
