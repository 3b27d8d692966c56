/// @file
/// What a process knows of its graphs, ops, stacks and devices: kept for the whole program, whatever is being recorded,
/// so that a second logdir gets all definitions that its events refer to.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <pthread.h>

#include <nanlens/capture/live_journal.hpp>
#include <nanlens/capture/platform.hpp>
#include <nanlens/capture/recorder_table.hpp>
#include <nanlens/capture/stack_walk.hpp>
#include <nanlens/capture/symbolizer.hpp>
#include <nanlens/capture/wall_clock.hpp>
#include <nanlens/config.hpp>
#include <nanlens/logdir/encode.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// A stack as it was walked, or as the host gave it; its frames are resolved when it is first written.
struct Stack {
  std::vector<std::uintptr_t> pcs;
  std::vector<SourcePlace> given;  // the host's, outermost first; with it, pcs is empty
  SourcePlace where;
  bool resolved = false;
  std::vector<std::uint32_t> frames;  // indices into Catalog::frames, outermost first
  std::string code_location;          // the field of that name, encoded (number 8 of Execution and GraphOpCreation)
};

static_assert(SourcePlace::no_stack == no_stack);

struct CatalogGraph;

/// An op of a graph. Visible, since handles point to it; nobody else looks inside.
struct NANLENS_VISIBLE GraphOp {
  const CatalogGraph* graph = nullptr;
  std::string type;
  std::string name;
  std::string trace_head;  // the fields graph_id and op_name of its traces, encoded
  std::vector<std::int32_t> output_tensor_ids;
  std::uint32_t stack = no_stack;
  bool is_placeholder = false;
};

/// A graph and its ops so far. Ops are found by a key made of their call site, type and occurrence.
struct CatalogGraph {
  /// So many keys, and ops are found by call site and occurrence alone, whatever their inputs.
  static constexpr std::size_t most_keys = 32'768;

  std::string id;
  std::string name;
  std::string mangled;  // op type of its executions
  const CatalogGraph* outer = nullptr;
  std::mutex lock;
  std::unordered_map<std::uint64_t, GraphOp*> op_by_key;
  std::atomic<bool> full{false};                          // there are that many
  std::unordered_map<std::size_t, GraphOp*> further_ops;  // by number of outputs: stand for those without room
  std::unordered_set<std::string> used_names;             // lower case, as TensorFlow compares them
  std::unordered_map<std::string, int> next_suffix;
};

/// Something that a logdir must hold before events can refer to it.
struct Definition {
  double wall_time;
  std::uint32_t stack;  // of an op, or no_stack
  logdir::EventKind kind;
  std::string before;  // the message's fields before the code location, which only the writer resolves,
  std::string after;   // and those behind it
};

/// A frame that has an id in logdirs.
struct CatalogFrame {
  std::string id;
  std::uint32_t file;
  std::int32_t line;
  std::string function;
};

class Catalog {
 public:
  /// @name What is made at run time has a bound
  /// Names, and so graphs, ops and ways to a line, may be new in every step of a program that never ends. What comes
  /// beyond these numbers is recorded all the same, under the names `further_functions` and `further_ops`, and with the
  /// line of the op alone.
  ///@{
  static constexpr std::size_t most_stacks = 131'072;
  static constexpr std::size_t most_graphs = 8'192;
  static constexpr std::size_t most_ops = 131'072;
  static constexpr std::size_t most_texts = 262'144;
  ///@}

  static Catalog& get() {
    static Catalog* const catalog = new Catalog;  // never destroyed: threads may record while the program ends
    return *catalog;
  }

  [[nodiscard]] const std::string& host() const noexcept { return host_; }
  /// Held while the process is forked.
  std::mutex& mutex() noexcept { return lock_; }
  /// A block of eager tensor ids for a thread; ids start at 0, gaps are normal (as in TensorFlow).
  std::int64_t take_eager_ids(std::int64_t count) noexcept {
    return next_eager_id_.fetch_add(count, std::memory_order_relaxed);
  }
  std::uint64_t next_call_id() noexcept { return next_call_id_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t next_graph_run() noexcept { return next_graph_run_.fetch_add(1, std::memory_order_relaxed); }

  /// The number of a stack; the same addresses and call site give the same number. Where there are too many, that of
  /// the call site alone; where there are too many of these, too, no_stack.
  std::uint32_t stack(std::uint64_t hash, std::span<const std::uintptr_t> pcs, const SourcePlace& where) {
    const std::lock_guard guard(lock_);
    if (const auto known = stack_by_hash_.find(hash); known != stack_by_hash_.end()) return known->second;
    if (stacks_.size() < most_stacks) return add_stack(hash, pcs, where);
    hash = hash_place(where);
    if (const auto known = stack_by_hash_.find(hash); known != stack_by_hash_.end()) return known->second;
    return stacks_.size() < 2 * most_stacks ? add_stack(hash, {}, where) : no_stack;
  }
  /// The number of a stack whose frames the host knows, outermost first. no_stack where there are too many.
  std::uint32_t host_stack(std::span<const SourcePlace> frames) {
    if (frames.empty()) return no_stack;
    std::uint64_t hash = 0x686f7374;  // apart from those that are walked
    for (const SourcePlace& frame : frames) hash = mix(hash, mix(hash_place(frame), hash_text(frame.function_name())));
    const std::lock_guard guard(lock_);
    if (const auto known = stack_by_hash_.find(hash); known != stack_by_hash_.end()) return known->second;
    if (stacks_.size() >= most_stacks) return no_stack;
    const std::uint32_t number = add_stack(hash, {}, frames.back());
    for (const SourcePlace& frame : frames) stacks_[number]->given.push_back(keep(frame));
    return number;
  }
  Stack& stack(std::uint32_t number) {
    const std::lock_guard guard(lock_);
    return *stacks_[number];
  }

  /// A copy of the name of an op that stays for the whole program; the same for the same content.
  std::string_view kept_text(std::string_view text) {
    const std::lock_guard guard(lock_);
    return keep_text(text, "FurtherOps");
  }
  /// The same of a place.
  SourcePlace kept_place(const SourcePlace& where) {
    const std::lock_guard guard(lock_);
    return keep(where);
  }

  /// True if nobody has claimed the host.
  bool claim_host(std::string_view host) {
    const std::lock_guard guard(lock_);
    return claimed_hosts_.emplace(host).second;
  }
  void release_host(std::string_view host) {
    const std::lock_guard guard(lock_);
    claimed_hosts_.erase(std::string(host));
  }

  /// The id of a device, from 1; a new one is defined.
  std::int32_t device(const char* name) {
    const std::lock_guard guard(lock_);
    const auto [found, is_new] = device_ids_.try_emplace(name, static_cast<std::int32_t>(device_ids_.size()) + 1);
    if (is_new) define(no_stack, logdir::DebuggedDevice{name, found->second});
    return found->second;
  }

  /// A graph by its key; `make` is called with it once, when it is new, to fill in its names. The nameless root graph,
  /// which encloses all top-level functions, is defined before the first.
  template <class Make>
  CatalogGraph& graph(std::uint64_t key, const CatalogGraph* outer, Make&& make) {
    const std::lock_guard guard(lock_);
    if (const auto known = graph_by_key_.find(key); known != graph_by_key_.end()) return *known->second;
    if (graphs_.size() >= most_graphs) return further_functions();
    CatalogGraph& graph = add_graph(outer, make);
    graph_by_key_.emplace(key, &graph);
    return graph;
  }
  /// A graph that is not found again by a key.
  template <class Make>
  CatalogGraph& new_graph(const CatalogGraph* outer, Make&& make) {
    const std::lock_guard guard(lock_);
    return graphs_.size() < most_graphs ? add_graph(outer, make) : further_functions();
  }

  /// True if there is room for another op, else one calls further_ops.
  [[nodiscard]] bool has_room_for_ops() {
    const std::lock_guard guard(lock_);
    return ops_.size() < most_ops;
  }
  /// What stands in a graph for all ops with so many outputs that there is no room for. The caller holds graph.lock.
  GraphOp& further_ops(CatalogGraph& graph, std::size_t num_outputs) {
    GraphOp*& op = graph.further_ops[num_outputs];
    if (op == nullptr) op = &add_op(graph, "FurtherOps", "further_ops", {}, num_outputs, no_stack);
    return *op;
  }
  /// Adds an op; the caller holds graph.lock. `name` is made unique as TensorFlow does: name, name_1, name_2, … Its
  /// reader takes "name:slot" apart at the colon, so there is none in a name.
  GraphOp& add_op(CatalogGraph& graph, std::string_view type, std::string_view name, std::vector<std::string> inputs,
                  std::size_t num_outputs, std::uint32_t stack) {
    auto op = std::make_unique<GraphOp>();
    op->graph = &graph;
    op->type = type;
    op->name = unique_name(graph, name);
    op->stack = stack;
    op->is_placeholder = type == "Placeholder";
    op->trace_head = encode_trace_head(graph.id, op->name);
    const auto count = static_cast<std::int32_t>(num_outputs);
    const std::int32_t first = next_tensor_id_.fetch_add(count, std::memory_order_relaxed);
    for (std::int32_t i = 0; i < count; ++i) op->output_tensor_ids.push_back(first + i);
    logdir::GraphOpCreation event;
    event.op_type = op->type;
    event.op_name = op->name;
    event.graph_name = graph.name;
    event.graph_id = graph.id;
    event.input_names = std::move(inputs);
    event.num_outputs = count;
    event.output_tensor_ids = op->output_tensor_ids;
    const std::lock_guard guard(lock_);
    define(stack, std::move(event));
    ops_.push_back(std::move(op));
    return *ops_.back();
  }

  /// @name For the writer
  ///@{
  /// Definitions from `begin` on, in the order they were made. They are never changed or moved.
  std::vector<const Definition*> definitions_from(std::size_t begin) {
    const std::lock_guard guard(lock_);
    std::vector<const Definition*> list;
    for (std::size_t i = begin; i < definitions_.size(); ++i) list.push_back(&definitions_[i]);
    return list;
  }
  /// Resolves a stack, once. Called by one writer at a time.
  const Stack& resolved(std::uint32_t number) {
    Stack& s = stack(number);
    if (s.resolved) return s;
    s.resolved = true;
    for (const SourcePlace& frame : s.given) s.frames.push_back(frame_number(frame_of(frame)));
    if (s.given.empty())
      for (ResolvedFrame& frame : symbolizer_.resolve(s.pcs, s.where))
        s.frames.push_back(frame_number(std::move(frame)));
    s.code_location = encode_location(s);
    return s;
  }
  [[nodiscard]] std::uint32_t num_stacks() {
    const std::lock_guard guard(lock_);
    return static_cast<std::uint32_t>(stacks_.size());
  }
  /// From now on, what is new is noted in this file, too; null: no more.
  void keep_journal(LiveFile* file) {
    const std::lock_guard guard(lock_);
    journal_.attach(file);
  }
  /// Notes that the frames of a stack are in the files.
  void note_location(std::uint32_t number) {
    const std::lock_guard guard(lock_);
    journal_.add_location(number, stacks_[number]->code_location);
  }
  [[nodiscard]] const std::vector<CatalogFrame>& frames() const noexcept { return frames_; }
  [[nodiscard]] const std::vector<std::string>& files() const noexcept { return files_; }
  ///@}

 private:
  Catalog() : host_(host_name()), prefix_(random_prefix()) {
#if NANLENS_HAS_THREADS
    // What a forked child adds has other ids than what its parent and its siblings do, which may be ranks of one run;
    // also where nothing is recorded yet when it is forked.
    ::pthread_atfork(nullptr, nullptr, [] { get().prefix_ = random_prefix(); });
#endif
  }

  static std::string random_prefix() { return random_text(6, "0123456789abcdefghijklmnopqrstuvwxyz"); }

  std::uint32_t add_stack(std::uint64_t hash, std::span<const std::uintptr_t> pcs, const SourcePlace& where) {
    const auto number = static_cast<std::uint32_t>(stacks_.size());
    stacks_.push_back(std::make_unique<Stack>(Stack{{pcs.begin(), pcs.end()}, {}, keep(where), false, {}, {}}));
    stack_by_hash_.emplace(hash, number);
    const ResolvedFrame line = frame_of(where);
    journal_.add_stack(number, line.file, line.line, line.function);
    return number;
  }

  // All functions that there is no room for.
  CatalogGraph& further_functions() {
    if (further_functions_ == nullptr)
      further_functions_ = &add_graph(nullptr, [](CatalogGraph& graph, int uid) {
        graph.name = "further_functions";
        graph.mangled = "__inference_further_functions_" + std::to_string(uid);
      });
    return *further_functions_;
  }

  const char* keep_text(std::string_view text, const char* otherwise) {
    if (texts_.size() < most_texts) return texts_.emplace(text).first->c_str();
    const auto known = texts_.find(std::string(text));
    return known != texts_.end() ? known->c_str() : otherwise;
  }
  SourcePlace keep(const SourcePlace& where) {
    if (where.stack() != no_stack) return where;
    return {keep_text(where.file_name(), ""), keep_text(where.function_name(), ""), where.line(), where.column()};
  }

  // Short unique strings, without the '_' and ',' that TensorBoard's routes can't take. The counter's own alphabet
  // would let prefix "ab" + "c1" meet "abc" + "1", so the prefix has a fixed length.
  std::string next_id() { return prefix_ + base36(next_text_id_++); }

  template <class What>
  void define(std::uint32_t stack, What&& what) {
    Definition d{wall_time_now(), stack, logdir::detail::kind_of<std::remove_cvref_t<What>>, {}, {}};
    if constexpr (std::is_same_v<std::remove_cvref_t<What>, logdir::GraphOpCreation>) {
      logdir::WireWriter(d.after).packed(logdir::tags::GraphOpCreation::output_tensor_ids,
                                         std::span<const std::int32_t>(what.output_tensor_ids));
      what.output_tensor_ids.clear();
    }
    d.before = logdir::encoded(what);
    journal_.add_definition(definitions_.size(), d.wall_time, d.kind, stack, d.before, d.after);
    definitions_.push_back(std::move(d));
  }

  template <class Make>
  CatalogGraph& add_graph(const CatalogGraph* outer, Make&& make) {
    if (graphs_.empty()) {
      graphs_.push_back(std::make_unique<CatalogGraph>());
      graphs_.back()->id = next_id();
      logdir::DebuggedGraph root;
      root.graph_id = graphs_.back()->id;
      define(no_stack, std::move(root));
    }
    graphs_.push_back(std::make_unique<CatalogGraph>());
    CatalogGraph& graph = *graphs_.back();
    graph.id = next_id();
    graph.outer = outer != nullptr ? outer : graphs_.front().get();
    make(graph, next_function_uid_);
    next_function_uid_ += 2;  // a backward function takes two
    logdir::DebuggedGraph event;
    event.graph_id = graph.id;
    event.graph_name = graph.name;
    event.outer_context_id = graph.outer->id;
    define(no_stack, std::move(event));
    return graph;
  }

  static std::string lower(std::string text) {
    for (char& c : text)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
  }
  static std::string unique_name(CatalogGraph& graph, std::string_view name) {
    std::string plain(name);
    std::replace(plain.begin(), plain.end(), ':', '.');
    std::string candidate = plain;
    if (graph.used_names.insert(lower(candidate)).second) return candidate;
    int& suffix = graph.next_suffix.try_emplace(lower(candidate), 1).first->second;
    do candidate = plain + "_" + std::to_string(suffix++);
    while (!graph.used_names.insert(lower(candidate)).second);
    return candidate;
  }

  std::uint32_t frame_number(ResolvedFrame&& frame) {
    const std::string key = frame.file + '\n' + std::to_string(frame.line) + '\n' + frame.function;
    const auto [found, is_new] = frame_by_key_.try_emplace(key, static_cast<std::uint32_t>(frames_.size()));
    if (is_new) {
      const auto [file, new_file] = file_by_path_.try_emplace(frame.file, static_cast<std::uint32_t>(files_.size()));
      if (new_file) files_.push_back(frame.file);
      frames_.push_back({next_frame_id(), file->second, frame.line, std::move(frame.function)});
    }
    return found->second;
  }
  std::string next_frame_id() {
    const std::lock_guard guard(lock_);
    return next_id();
  }
  static std::string encode_trace_head(const std::string& graph_id, const std::string& op_name) {
    logdir::GraphExecutionTrace head;
    head.tfdbg_context_id = graph_id;
    head.op_name = op_name;
    return logdir::encoded(head);
  }
  [[nodiscard]] std::string encode_location(const Stack& s) const {
    logdir::CodeLocation location;
    location.host_name = host_;
    for (const std::uint32_t frame : s.frames) location.stack_frame_ids.push_back(frames_[frame].id);
    std::string field;
    {
      // The messages that have a code location have it under one number.
      using Tag = logdir::tags::Execution;
      static_assert(logdir::FieldNumber(Tag::code_location).value() ==
                    logdir::FieldNumber(logdir::tags::GraphOpCreation::code_location).value());
      logdir::WireWriter w(field);
      w.message(Tag::code_location, [&](logdir::WireWriter& sub) { logdir::detail::encode(sub, location); });
    }
    return field;
  }

  std::mutex lock_;
  std::unordered_set<std::string> texts_;
  std::unordered_set<std::string> claimed_hosts_;
  std::string host_;
  std::string prefix_;
  std::atomic<std::int64_t> next_eager_id_{0};
  std::atomic<std::int32_t> next_tensor_id_{1};
  std::atomic<std::uint64_t> next_call_id_{1};
  std::atomic<std::uint64_t> next_graph_run_{1};
  std::uint64_t next_text_id_ = 0;
  int next_function_uid_ = 1;

  std::vector<std::unique_ptr<Stack>> stacks_;
  std::unordered_map<std::uint64_t, std::uint32_t> stack_by_hash_;
  std::unordered_map<std::string, std::int32_t> device_ids_;
  std::vector<std::unique_ptr<CatalogGraph>> graphs_;
  std::unordered_map<std::uint64_t, CatalogGraph*> graph_by_key_;
  CatalogGraph* further_functions_ = nullptr;
  std::vector<std::unique_ptr<GraphOp>> ops_;
  std::deque<Definition> definitions_;
  LiveJournal journal_;

  Symbolizer symbolizer_;
  std::vector<CatalogFrame> frames_;
  std::unordered_map<std::string, std::uint32_t> frame_by_key_;
  std::vector<std::string> files_;
  std::unordered_map<std::string, std::uint32_t> file_by_path_;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
