/// @file
/// A recording: what threads have queued goes from here to the files.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <nanlens/capture/file_set_writer.hpp>
#include <nanlens/capture/host_state.hpp>
#include <nanlens/capture/op_filter.hpp>
#include <nanlens/capture/options.hpp>
#include <nanlens/capture/pinned_windows.hpp>
#include <nanlens/capture/plain_trace.hpp>
#include <nanlens/capture/sampler.hpp>
#include <nanlens/capture/session_rules.hpp>
#include <nanlens/capture/signal_block.hpp>
#include <nanlens/capture/thread_state.hpp>
#include <nanlens/capture/undisturbed.hpp>
#include <nanlens/capture/value_budget.hpp>
#include <nanlens/capture/wall_clock.hpp>
#include <nanlens/config.hpp>
#include <nanlens/logdir/rank.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// One logdir being written. All writing happens under one lock, by the writer thread, by a thread whose queue is full,
/// or by whoever flushes; recording threads otherwise never meet it.
class Session {
 public:
  explicit Session(const DumpOptions& options) { set_options(options); }

  /// Options for the next start; the logdir stays the one that the session was made for.
  void set_options(const DumpOptions& options) {
    const std::lock_guard guard(lock_);
    options_ = options;
    filter_ = std::make_unique<OpFilter>(options_);
  }
  /// Held while the process is forked.
  std::mutex& mutex() noexcept { return lock_; }

  [[nodiscard]] const DumpOptions& options() const noexcept { return options_; }
  [[nodiscard]] const OpFilter& filter() const noexcept { return *filter_; }
  [[nodiscard]] ValueBudget& values() const noexcept { return values_; }
  [[nodiscard]] const SessionRules& rules() const noexcept { return rules_; }
  /// False: another rule has stopped the program.
  bool note_stop(std::size_t rule) noexcept { return rules_.note_stop(rule); }
  [[nodiscard]] bool ring_mode() const noexcept { return options_.circular_buffer_size > 0; }

  /// Makes the file set, or opens the one made before, and starts the writer. False, with `why`, if files can't be
  /// made.
  bool start(const std::string& run_id, std::string& why) {
    const std::lock_guard guard(lock_);
    files_.set_circular_buffer_size(ring_mode() ? static_cast<std::uint64_t>(options_.circular_buffer_size) : 0);
    const bool ready =
        created_ ? files_.reopen(why)
                 : files_.create(options_.logdir, Catalog::get().host() + logdir::Rank::get().suffix(), run_id, why);
    if (!ready) return false;
    created_ = true;
    stop_ = false;
    values_.reset(options_.value_budget);
    windows_.reset(options_.pinned_sites, options_.pinned_events);
    rules_.begin(options_);
    add_thread_drops(-1);  // what was dropped before is not this recording's
    WallClock::get().begin();
    begin_live();
    switched_off_ = false;
    write_pending(Rings::stay);
    running_ = true;
    start_writer();
    return true;
  }

  /// Writes everything that is queued or in rings, notes the end, and closes the files.
  void stop() {
#if NANLENS_HAS_THREADS
    {
      const std::lock_guard guard(wake_lock_);
      stop_ = true;
    }
    wake_.notify_all();
    if (writer_.joinable()) writer_.join();
#endif
    const logdir::LeftOut left_out = Sampler::get().left_out();
    const std::lock_guard guard(lock_);
    write_pending(Rings::newest);
    add_thread_drops(1);
    const Missing all = missing(left_out);
    files_.append_metadata(all);
    left_out_before_ = all.left_out;
    noted_ns_ = 0;
    noted_not_followed_ = 0;
    noted_unread_ = 0;
    files_.close();
    end_live();
    running_ = false;
  }

  /// What becomes of what rings keep when queues are written. What is written of them is no longer kept, as is what is
  /// older.
  enum class Rings : std::uint8_t {
    stay,
    newest,  ///< the last of all threads together are written, as many as the options say
    all,     ///< everything is written
  };

  /// Writes what is queued, and of rings what is asked for.
  void flush(Rings rings) {
    const std::lock_guard guard(lock_);
    if (running_) write_pending(rings);
  }

  /// Takes an event, whose content is in `state.content`, from the thread that owns `state`. Nothing is dropped: a full
  /// queue makes the caller write. `bad_site`: the op's call site where the event holds a NaN or infinity, else 0.
  /// `first_hit`: of a rule.
  void submit(ThreadState& state, QueuedEvent& event, std::uint64_t bad_site = 0, bool first_hit = false) {
    event.sequence = state.sequence++;
    if (state.recording_number != number_ && !join(state)) return drop(state, event);
    if (!ring_mode()) return enqueue(state, event);
    if (bad_site != 0 && windows_.begins(bad_site)) return pin(state, event);
    if (first_hit && windows_.begins_at_rule()) return pin(state, event);
    const EncodedEvent encoded{event, state.content.view()};
    const auto pushed = push_to_ring(ring_of(state, event), encoded);
    if (pushed == EventRing::Pushed::not_wanted) return enqueue(state, event);
    if (pushed == EventRing::Pushed::no_memory) drop(state, event);
  }

  /// The same of a trace that is not encoded yet. False if it is too large for that.
  bool submit(ThreadState& state, const PlainTrace& trace) {
    if (!EventQueue::fits(trace.most_content())) return false;
    ++state.sequence;
    if ((state.recording_number == number_ || join(state)) && push(state, trace)) return true;
    state.dropped_traces.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  /// The frames of a stack, outermost first.
  std::vector<ResolvedFrame> frames_of(std::uint32_t number) {
    const std::lock_guard guard(lock_);
    Catalog& catalog = Catalog::get();
    std::vector<ResolvedFrame> frames;
    if (number == no_stack) return frames;
    for (const std::uint32_t frame : catalog.resolved(number).frames) {
      const CatalogFrame& f = catalog.frames()[frame];
      frames.push_back({catalog.files()[f.file], static_cast<std::int32_t>(f.line), f.function});
    }
    return frames;
  }

  /// In a child process after fork there is no writer thread, and the files belong to the parent.
  void abandon() noexcept {
    live_.forget();
#if NANLENS_HAS_THREADS
    new (&writer_) std::thread();
#endif
  }

 private:
  struct KeptEvent {
    QueuedEvent event;
    std::string_view content;
  };

  // Where no thread can be had, callers write when their queues are full, and the rest is written at the end.
  void start_writer() {
#if NANLENS_HAS_THREADS
#if NANLENS_HAS_EXCEPTIONS
    try {
#endif
      const NoSignals blocked;
      writer_ = std::thread([this] { run_writer(); });
#if NANLENS_HAS_EXCEPTIONS
    } catch (const std::system_error& error) {
      std::fprintf(stderr,
                   "nanlens: no thread can be started to write '%s' (%s): the recording program writes itself\n",
                   options_.logdir.c_str(), error.what());
    }
#endif
#endif
  }

#if NANLENS_HAS_THREADS
  void run_writer() {
    const HostState host;                           // a thread begins with that of its creator
    constexpr std::chrono::milliseconds usual(50);  // data is promised to reach the system within 100 ms
    std::chrono::milliseconds interval(1);          // at first the clock is to be compared with
    std::unique_lock guard(wake_lock_);
    while (!stop_) {
      wake_.wait_for(guard, interval);
      interval = std::min(2 * interval, usual);
      guard.unlock();
      woken_.store(false, std::memory_order_relaxed);
      run_round();
      guard.lock();
    }
  }

  // Where memory runs out, all stays queued and the next round tries again.
  void run_round() {
#if NANLENS_HAS_EXCEPTIONS
    try {
#endif
      WallClock::get().compare();
      flush(Rings::stay);
      follow_switch();
      note_gaps();
#if NANLENS_HAS_EXCEPTIONS
    } catch (const std::exception& error) {
      if (std::exchange(told_of_round_, true)) return;
      std::fprintf(stderr, "nanlens: '%s' can't be written now (%s); events are kept, and it is tried again\n",
                   options_.logdir.c_str(), error.what());
    }
#endif
  }

  // `nanlens off` and `nanlens on` write into the file of what is in memory.
  void follow_switch() {
    if (live_.switched_off() == switched_off_) return;
    switched_off_ = !switched_off_;
    Sampler::get().switch_off(switched_off_);
    live_.obey(switched_off_);
  }

  // A recording that is cut short tells what it has left out, what its rules could not judge, and how many tensors
  // could not be read, too: noted each time that it has become twice as much.
  void note_gaps() {
    const logdir::LeftOut left_out = Sampler::get().left_out();
    const std::lock_guard guard(lock_);
    if (!running_) return;
    const std::uint64_t not_followed = rules_.not_followed();
    std::uint64_t unread = unread_tensors_;
    for (const ThreadState* state : ThreadStates::get().list())
      unread += state->unread_tensors.load(std::memory_order_relaxed);
    const bool is_news = (left_out.ns > 0 && left_out.ns >= 2 * noted_ns_) ||
                         (not_followed > 0 && not_followed >= 2 * noted_not_followed_) ||
                         (unread > 0 && unread >= 2 * noted_unread_);
    if (!is_news) return;
    noted_ns_ = left_out.ns;
    noted_not_followed_ = not_followed;
    noted_unread_ = unread;
    Missing now = missing(left_out);
    now.unread_tensors = unread;
    files_.note_missing(now);
  }
#endif

  // As it is known by now; of what threads have dropped, without what they still count.
  [[nodiscard]] Missing missing(const logdir::LeftOut& left_out) const {
    Missing all{lost_executions_, lost_traces_, unread_tensors_, left_out_before_, rules_.outcomes()};
    all.left_out.ops += left_out.ops;
    all.left_out.steps += left_out.steps;
    all.left_out.ns += left_out.ns;
    return all;
  }

  // Gives a thread memory of this recording. False if there is none.
  bool join(ThreadState& state) {
    if (!live_.ready()) return false;
    const Undisturbed undisturbed;
    state.attach(&live_);
    state.recording_number = number_;
    return true;
  }

  static EventRing& ring_of(ThreadState& state, const QueuedEvent& event) noexcept {
    return event.is_execution != 0 ? state.executions : state.traces;
  }
  template <class Event>
  EventRing::Pushed push_to_ring(EventRing& ring, const Event& event) {
    auto pushed = EventRing::Pushed::not_wanted;
    while (pushed == EventRing::Pushed::not_wanted && !windows_.takes_next())
      pushed = ring.push(num_kept(), event, windows_);
    return pushed;
  }
  // False if there is no memory.
  bool push(ThreadState& state, const PlainTrace& trace) {
    const auto pushed = ring_mode() ? push_to_ring(state.traces, trace) : EventRing::Pushed::not_wanted;
    if (pushed == EventRing::Pushed::not_wanted) return push_to_queue(state, trace);
    return pushed == EventRing::Pushed::kept;
  }
  // How many events of one kind a ring keeps.
  [[nodiscard]] std::size_t num_kept() const noexcept {
    return static_cast<std::size_t>(std::max(options_.circular_buffer_size, windows_.events()));
  }

  // An event that goes to the files whatever follows.
  void enqueue(ThreadState& state, const QueuedEvent& event) {
    const std::string_view content = state.content.view();
    if (!EventQueue::fits(content.size())) {  // a large FULL_TENSOR value
      const NoSignals blocked;
      const std::lock_guard guard(lock_);
      write_pending(Rings::stay);
      write_definitions();
      append(event, content);
      flush_files();
      commit_files();
      return;
    }
    if (!push_to_queue(state, EncodedEvent{event, content})) drop(state, event);
  }
  // False if there is no memory.
  template <class Event>
  bool push_to_queue(ThreadState& state, const Event& event) {
    if (!state.queue.attached() && !attach_queue(state)) return false;
    while (!state.queue.push(event)) {
      const Undisturbed undisturbed;
      flush(Rings::stay);
    }
    wake_writer(state.queue);
    return true;
  }
  bool attach_queue(ThreadState& state) {
    const Undisturbed undisturbed;
    state.queue.attach(live_.allocate(RegionKind::queue, EventQueue::region_bytes, state.thread_id));
    return state.queue.attached();
  }
  void wake_writer([[maybe_unused]] const EventQueue& queue) noexcept {
#if NANLENS_HAS_THREADS
    if (queue.more_than_half_full() && !woken_.load(std::memory_order_relaxed) &&
        !woken_.exchange(true, std::memory_order_relaxed)) {
      const Undisturbed undisturbed;
      wake_.notify_one();
    }
#endif
  }

  // The first bad event of a site: it goes to the files, with all that rings hold.
  void pin(ThreadState& state, const QueuedEvent& event) {
    const NoSignals blocked;
    const std::lock_guard guard(lock_);
    windows_.open();
    if (!ring_of(state, event).push(num_kept() + 1, EncodedEvent{event, state.content.view()})) drop(state, event);
    write_pending(Rings::all);
  }
  static void drop(ThreadState& state, const QueuedEvent& event) noexcept {
    auto& dropped = event.is_execution != 0 ? state.dropped_executions : state.dropped_traces;
    dropped.fetch_add(1, std::memory_order_relaxed);
  }

  // Everything below runs under lock_.

  // From now on queues, rings and what events refer to lie in a file beside the six.
  void begin_live() {
    static std::atomic<std::uint64_t> recordings{0};
    number_ = ++recordings;
    leave_threads();  // a forked child's still have the parent's memory
    locations_noted_ = 0;
    commit_ = {files_.sizes(), definitions_written_, files_written_};
    if (live_.create(files_.path(live::suffix), options_.circular_buffer_size, commit_))
      Catalog::get().keep_journal(&live_);
  }
  void end_live() {
    Catalog::get().keep_journal(nullptr);
    leave_threads();
    live_.remove();
  }
  static void leave_threads() {
    for (ThreadState* state : ThreadStates::get().list()) state->attach(nullptr);
  }

  // Adds what threads have counted so far, or with sign −1 takes it off.
  void add_thread_drops(int sign) {
    const auto factor = static_cast<std::uint64_t>(static_cast<std::int64_t>(sign));
    for (const ThreadState* state : ThreadStates::get().list()) {
      lost_executions_ += factor * state->dropped_executions.load(std::memory_order_relaxed);
      lost_traces_ += factor * state->dropped_traces.load(std::memory_order_relaxed);
      unread_tensors_ += factor * state->unread_tensors.load(std::memory_order_relaxed);
    }
  }

  void write_pending(Rings rings) {
    begun_ = wall_time_now();
    files_.forget_events();  // of a round that memory ran out in: they are still queued
    const std::vector<ThreadState*> states = ThreadStates::get().list();
    kept_.clear();
    std::deque<std::string> contents;  // of ring events
    // Rings before queues: what a thread puts into its ring may be later than what others have put into their queues.
    if (rings != Rings::stay) add_rings(states, contents, rings);
    std::vector<std::uint64_t> heads;
    // Heads first: definitions are made before the events that refer to them, so those read below cover these events.
    for (const ThreadState* state : states) heads.push_back(state->queue.head());
    write_definitions();
    append_queued(states, heads);
    flush_files();
    commit(states, heads, rings != Rings::stay);
  }

  // Appends what the queues hold up to `heads`, and what rings gave, in the order of time. What one thread queued is in
  // order.
  void append_queued(const std::vector<ThreadState*>& states, const std::vector<std::uint64_t>& heads) {
    std::vector<EntryReader> queues;
    for (std::size_t i = 0; i < states.size(); ++i)
      if (heads[i] != 0)
        if (EntryReader entry = states[i]->queue.entries(heads[i]); entry.next()) queues.push_back(entry);
    std::vector<EntryReader*> next;  // a heap
    for (EntryReader& entry : queues) next.push_back(&entry);
    const auto later = [](const EntryReader* a, const EntryReader* b) { return earlier_event(b->event(), a->event()); };
    std::make_heap(next.begin(), next.end(), later);
    auto kept = kept_.begin();
    const auto append_next = [&](const EntryReader& entry) {
      for (; kept != kept_.end() && earlier_event(kept->event, entry.event()); ++kept)
        append(kept->event, kept->content);
      append(entry.event(), entry.content());
    };
    while (next.size() > 1) {
      EntryReader& entry = *next.front();
      append_next(entry);
      std::pop_heap(next.begin(), next.end(), later);
      if (entry.next())
        std::push_heap(next.begin(), next.end(), later);
      else
        next.pop_back();
    }
    if (!next.empty()) {
      EntryReader entry = *next.front();  // a copy, which the compiler can keep at hand
      do append_next(entry);
      while (entry.next());
    }
    for (; kept != kept_.end(); ++kept) append(kept->event, kept->content);
  }

  static bool earlier_event(const QueuedEvent& a, const QueuedEvent& b) noexcept {
    if (a.wall_time != b.wall_time) return a.wall_time < b.wall_time;
    return a.sequence < b.sequence;
  }

  // Each thread kept its own last ones. Newest first, so that those that are wanted come before the others.
  void add_rings(const std::vector<ThreadState*>& states, std::deque<std::string>& contents, Rings rings) {
    std::vector<KeptEvent> drained;
    for (ThreadState* state : states)
      for (EventRing* ring : {&state->executions, &state->traces})
        ring->drain([&](const QueuedEvent& e, std::string_view content) {
          drained.push_back({e, contents.emplace_back(content)});
        });
    std::sort(drained.begin(), drained.end(),
              [](const auto& a, const auto& b) { return earlier_event(b.event, a.event); });
    std::int64_t count[2] = {0, 0};
    if (rings == Rings::newest)
      std::erase_if(drained,
                    [&](const auto& e) { return ++count[e.event.is_execution] > options_.circular_buffer_size; });
    kept_.assign(drained.rbegin(), drained.rend());
  }

  // What was handed to the operating system is no longer needed in memory, should the process end now.
  void commit(const std::vector<ThreadState*>& states, const std::vector<std::uint64_t>& heads, bool rings) {
    commit_.file_bytes = files_.sizes();
    if (files_.buffer(FileKind::graphs).empty()) commit_.definitions = definitions_written_;
    if (files_.buffer(FileKind::source_files).empty()) commit_.source_files = files_written_;
    if (live_.ready()) {
      const std::uint32_t parity = live_.next_parity();
      live_.next_commit() = commit_;
      for (std::size_t i = 0; i < states.size(); ++i) {
        states[i]->queue.take(heads[i], parity);
        states[i]->executions.take(parity);
        states[i]->traces.take(parity);
      }
      live_.commit();
      live_.touch(begun_);
    }
    for (std::size_t i = 0; i < states.size(); ++i) {
      states[i]->queue.release(heads[i]);
      if (!rings) continue;
      states[i]->executions.release();
      states[i]->traces.release();
    }
    if (live_.ready()) note_locations();  // last: it needs memory, and what is written must not be written again
  }

  // The same where nothing of the queues has been written.
  void commit_files() {
    const std::vector<ThreadState*> states = ThreadStates::get().list();
    std::vector<std::uint64_t> tails;
    for (const ThreadState* state : states) tails.push_back(state->queue.tail());
    commit(states, tails, false);
  }

  void note_locations() {
    if (!files_.buffer(FileKind::stack_frames).empty()) return;
    for (; locations_noted_ < stacks_resolved_; ++locations_noted_) Catalog::get().note_location(locations_noted_);
  }

  void write_definitions() {
    Catalog& catalog = Catalog::get();
    const auto definitions = catalog.definitions_from(definitions_written_);
    for (const std::uint32_t stacks = catalog.num_stacks(); stacks_resolved_ < stacks; ++stacks_resolved_)
      catalog.resolved(stacks_resolved_);
    for (; files_written_ < catalog.files().size(); ++files_written_)
      write_source_file(catalog.files()[files_written_]);
    for (; frames_written_ < catalog.frames().size(); ++frames_written_) write_frame(catalog.frames()[frames_written_]);
    for (const Definition* d : definitions) {
      write_definition(*d);
      ++definitions_written_;
    }
  }

  void write_source_file(const std::string& path) {
    const logdir::SourceFile file{path, Catalog::get().host(), read_lines(path)};
    WholeRecord record(files_.buffer(FileKind::source_files));
    logdir::append_event(record.buffer(), wall_time_now(), file);
    record.complete();
  }

  // The text, split at '\n' as TensorFlow splits it; none for files that are missing, binary or very large.
  static std::vector<std::string> read_lines(const std::string& path) {
    constexpr std::size_t largest = std::size_t{8} << 20;
    std::vector<std::string> lines;
    std::string text;
    if (std::FILE* const file = std::fopen(path.c_str(), "rb"); file != nullptr) {
      char buffer[16384];
      while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, file)) {
        text.append(buffer, n);
        if (text.size() > largest) break;
      }
      std::fclose(file);
    }
    if (text.empty() || text.size() > largest || text.find('\0') != std::string::npos) return lines;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      lines.push_back(text.substr(begin, end - begin));
    lines.push_back(text.substr(begin));
    return lines;
  }

  void write_frame(const CatalogFrame& frame) {
    logdir::StackFrameWithId what;
    what.id = frame.id;
    what.file_line_col.emplace();
    what.file_line_col->file_index = static_cast<std::int32_t>(frame.file);
    what.file_line_col->line = frame.line;
    what.file_line_col->func = frame.function;
    WholeRecord record(files_.buffer(FileKind::stack_frames));
    logdir::append_event(record.buffer(), wall_time_now(), what);
    record.complete();
  }

  void write_definition(const Definition& definition) {
    WholeRecord record(files_.buffer(FileKind::graphs));
    live::append_record(record.buffer(), definition.wall_time, definition.kind, definition.before,
                        location_of(definition.stack), definition.after);
    record.complete();
  }

  // The field code_location of a stack, encoded; nothing for no_stack. Neighbours often share it, so that the last one
  // is kept: the catalog takes a lock.
  std::string_view location_of(std::uint32_t stack) {
    if (stack == no_stack) return {};
    if (stack != last_stack_) last_location_ = Catalog::get().stack(stack).code_location;
    last_stack_ = stack;
    return last_location_;
  }

  void append(const QueuedEvent& event, std::string_view content) {
    const bool execution = event.is_execution != 0;
    live::append_record(files_.buffer(execution ? FileKind::execution : FileKind::graph_execution_traces), event,
                        content, location_of(event.stack));
  }

  void flush_files() {
    const Lost lost = files_.flush();
    lost_traces_ += lost.traces;
    lost_executions_ += lost.executions;
    if (lost.traces + lost.executions == 0) return;
    if (!std::exchange(complained_, true))
      std::fprintf(stderr, "nanlens: writing to '%s' failed; events are lost and counted (is the disk full?)\n",
                   options_.logdir.c_str());
  }

  DumpOptions options_;
  std::unique_ptr<OpFilter> filter_;
  mutable ValueBudget values_;
  PinnedWindows windows_;
  SessionRules rules_;
  std::mutex lock_;
  FileSetWriter files_;
  LiveFile live_;
  live::Commit commit_{};
  double begun_ = 0;          // when what is being written was looked for
  std::uint64_t number_ = 0;  // of this start among all of the process
  std::uint32_t stacks_resolved_ = 0;
  std::uint32_t locations_noted_ = 0;
  bool created_ = false;
  bool running_ = false;
  bool complained_ = false;
  [[maybe_unused]] bool told_of_round_ = false;  // not used without exceptions
  std::size_t definitions_written_ = 0;
  std::size_t files_written_ = 0;
  std::size_t frames_written_ = 0;
  std::uint64_t lost_executions_ = 0;
  std::uint64_t lost_traces_ = 0;
  std::uint64_t unread_tensors_ = 0;
  logdir::LeftOut left_out_before_;  // when it was on before
  std::uint64_t noted_ns_ = 0;       // of what is left out
  std::uint64_t noted_not_followed_ = 0;
  std::uint64_t noted_unread_ = 0;
  bool switched_off_ = false;
  std::vector<KeptEvent> kept_;  // what rings gave, oldest first
  std::uint32_t last_stack_ = no_stack;
  std::string_view last_location_;

  std::mutex wake_lock_;
  std::condition_variable wake_;
  std::atomic<bool> woken_{false};
  bool stop_ = false;
#if NANLENS_HAS_THREADS
  std::thread writer_;
#endif
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
