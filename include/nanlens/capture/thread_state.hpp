/// @file
/// What each recording thread has for itself. States are never freed: a thread that ends leaves its state to the next
/// one.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <nanlens/capture/catalog.hpp>
#include <nanlens/capture/event_ring.hpp>
#include <nanlens/capture/function_frame.hpp>
#include <nanlens/capture/recent_outputs.hpp>
#include <nanlens/capture/recorder_table.hpp>
#include <nanlens/capture/rule_state.hpp>
#include <nanlens/capture/wall_clock.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

struct ThreadState {
  std::uint64_t thread_id = 0;
  std::atomic<bool> recording{false};  ///< inside a recording call: disabling waits for it
  std::uint64_t recording_number = 0;  ///< whose memory queue and rings use
  EventQueue queue;
  EventRing executions{RegionKind::executions};
  EventRing traces{RegionKind::traces};
  std::uint32_t sequence = 0;
  double last_time = 0;
  Measured measured;            ///< of the op being recorded
  logdir::WireScratch content;  // of the event being encoded
  // Scratch, too. Not thread_local objects of their own: a host's may record while the thread ends, after those are
  // gone.
  struct Scratch {
    std::vector<std::int64_t> input_ids;
    std::vector<std::int64_t> output_ids;
    std::vector<std::int32_t> devices;
    std::vector<std::uint64_t> written;
    std::vector<TensorLink> before;
  } scratch;
  RecentOutputs recent_outputs;
  std::unique_ptr<RuleState> rules;      ///< null until something is judged
  FunctionFrame* function = nullptr;     ///< innermost function scope of the thread
  std::vector<OutputRef> inner_results;  // of the call that ends inside another
  std::vector<std::unique_ptr<FunctionFrame>> spare_frames;
  std::int64_t next_eager_id = 0;
  std::int64_t last_eager_id = 0;
  std::atomic<std::uint64_t> dropped_executions{0};
  std::atomic<std::uint64_t> dropped_traces{0};
  std::atomic<std::uint64_t> unread_tensors{0};  ///< whose memory can't be read here
  std::atomic<std::uint64_t> ops_at_rest{0};     ///< that were not recorded, as was asked for

  // Direct-mapped caches in front of the catalog's locked tables.
  struct StackEntry {
    std::uint64_t hash = 0;
    std::uint32_t number = no_stack;
  };
  struct OpEntry {
    std::uint64_t key = 0;
    GraphOp* op = nullptr;
  };
  struct GraphEntry {
    std::uint64_t key = 0;
    CatalogGraph* graph = nullptr;
  };
  struct DeviceEntry {
    std::string name;
    std::int32_t id = 0;
  };
  std::array<StackEntry, 2048> stack_cache{};
  std::array<OpEntry, 2048> op_cache{};
  std::array<GraphEntry, 256> graph_cache{};
  DeviceEntry device_cache{};

  /// Queue and rings begin empty, in memory of `file` (queues take theirs later); null: none.
  void attach(LiveFile* file) noexcept {
    queue.attach(nullptr);
    executions.attach(file, thread_id);
    traces.attach(file, thread_id);
  }
  /// The time of an event: not before that of the thread's last one, but where the system's clock was set back.
  double take_time() noexcept {
    // Neighbouring numbers of a double, of which 2^22 are a second: floating-point arithmetic is the host's.
    constexpr std::int64_t much = 4096;
    const double now = wall_time_now();
    const auto back = std::bit_cast<std::int64_t>(last_time) - std::bit_cast<std::int64_t>(now);
    if (back <= 0 || back > much) last_time = now;
    return last_time;
  }
  std::int64_t take_eager_id() {
    constexpr std::int64_t block = 256;
    if (next_eager_id == last_eager_id) {
      next_eager_id = Catalog::get().take_eager_ids(block);
      last_eager_id = next_eager_id + block;
    }
    return next_eager_id++;
  }
  std::int32_t device_id(const char* name) {
    if (device_cache.name != name) device_cache = {name, Catalog::get().device(name)};
    return device_cache.id;
  }
  std::uint32_t stack_number(StackMode mode, const SourcePlace& where) {
    if (where.stack() != no_stack) return where.stack();
    StackAddresses stack;
    if (measured.observed != nullptr)
      stack.copy({measured.observed->stack, measured.observed->num_frames});
    else
      walk_stack(mode, stack);
    std::uint64_t hash = hash_place(where);
    for (const std::uintptr_t pc : stack.span()) hash = mix(hash, pc);
    StackEntry& entry = stack_cache[hash % stack_cache.size()];
    if (entry.number == no_stack || entry.hash != hash) entry = {hash, Catalog::get().stack(hash, stack.span(), where)};
    return entry.number;
  }
};

/// All states there are.
class ThreadStates {
 public:
  static ThreadStates& get() {
    static ThreadStates* const states = new ThreadStates;
    return *states;
  }
  ThreadState& acquire() {
    const std::lock_guard guard(lock_);
    if (free_.empty()) {
      free_.reserve(all_.size() + 1);  // so that giving it back needs no memory
      all_.push_back(std::make_unique<ThreadState>());
      free_.push_back(all_.back().get());
    }
    ThreadState* const state = free_.back();
    free_.pop_back();
    state->thread_id = thread_number();
    return *state;
  }
  /// A thread gives its state back as it ends. In the middle of a recording call it ends with the program alone: a
  /// signal's handler has called exit().
  void release(ThreadState& state) {
    if (state.recording.load()) return cut_off_.store(true);
    const std::lock_guard guard(lock_);
    free_.push_back(&state);
  }
  /// A recording call has been left for good, with the locks that it may hold.
  [[nodiscard]] bool cut_off() const noexcept { return cut_off_.load(); }
  std::vector<ThreadState*> list() {
    const std::lock_guard guard(lock_);
    std::vector<ThreadState*> states;
    for (const auto& s : all_) states.push_back(s.get());
    return states;
  }

  /// Held while the process is forked.
  std::mutex& mutex() noexcept { return lock_; }
  /// In a forked child the parent's other threads are gone, wherever they stood.
  void keep_only(const ThreadState* self) noexcept {
    for (const auto& state : all_)
      if (state.get() != self)
        state->recording.store(false);
      else
        state->thread_id = thread_number();
  }

 private:
  std::mutex lock_;
  std::vector<std::unique_ptr<ThreadState>> all_;
  std::vector<ThreadState*> free_;
  std::atomic<bool> cut_off_{false};
};

/// This thread's state; null once the thread is ending and gives it back, where there is no memory for it, and in a
/// signal's handler that has interrupted its making.
inline ThreadState* this_thread() noexcept {
  thread_local bool out_of_reach = false;
  struct Holder {
    bool& flag = out_of_reach;
    ThreadState* state = nullptr;
    Holder() {
      flag = true;
      state = &ThreadStates::get().acquire();
      flag = false;
    }
    ~Holder() {
      flag = true;
      ThreadStates::get().release(*state);
    }
  };
  if (out_of_reach) return nullptr;
#if NANLENS_HAS_EXCEPTIONS
  try {
#endif
    thread_local Holder holder;
    return holder.state;
#if NANLENS_HAS_EXCEPTIONS
  } catch (...) {
    out_of_reach = false;
    return nullptr;
  }
#endif
}

/// What is lost where a recording call can't record.
enum class Dropped : std::uint8_t { nothing, execution, trace };

/// The same for a recording call. Null, too, in a signal's handler that has interrupted one: what it would have put on
/// record is counted.
inline ThreadState* recording_thread(Dropped what = Dropped::nothing) noexcept {
  ThreadState* const state = this_thread();
  if (state == nullptr || !state->recording.load(std::memory_order_relaxed)) return state;
  if (what == Dropped::execution) state->dropped_executions.fetch_add(1, std::memory_order_relaxed);
  if (what == Dropped::trace) state->dropped_traces.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
