/// @file
/// Which steps of a program are recorded, and whether any are just now. While not, the recording rests: a hook looks at
/// one word and counts.
#pragma once

#include <cstdint>
#include <mutex>

#include <nanlens/capture/clients.hpp>
#include <nanlens/capture/options.hpp>
#include <nanlens/capture/platform.hpp>
#include <nanlens/capture/tensor_registry.hpp>
#include <nanlens/capture/thread_state.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// Of a process. Any thread may end a step; the recording's writer follows the switch.
class Sampler {
 public:
  static Sampler& get() {
    static Sampler* const sampler = new Sampler;  // never destroyed: threads may step while the program ends
    return *sampler;
  }

  /// A recording begins. A forked child goes on with its parent's step.
  void begin(const DumpOptions& options) {
    const std::lock_guard guard(lock_);
    every_ = options.every;
    first_ = options.first_step;
    last_ = options.last_step;
    ops_before_ = ops_at_rest();
    left_out_ = {};
    rest_began_ns_ = steady_now_ns();
    on_ = true;
    update();
  }
  void end() {
    const std::lock_guard guard(lock_);
    on_ = switched_off_ = false;
    step_ = 0;
    update();
  }
  /// A step has ended, and the next begins.
  void step() {
    const std::lock_guard guard(lock_);
    if (resting_) ++left_out_.steps;
    ++step_;
    update();
  }
  /// What `nanlens off` and `nanlens on` ask for.
  void switch_off(bool off) {
    const std::lock_guard guard(lock_);
    switched_off_ = off;
    update();
  }
  /// A forked child can't be reached by the switch before it records: the steps alone decide, from its next one on.
  void forget_switch() noexcept { switched_off_ = false; }

  /// What was left out since the recording began. Its writer asks before, too.
  logdir::LeftOut left_out() {
    const std::lock_guard guard(lock_);
    if (!on_) return {};
    logdir::LeftOut all = left_out_;
    all.ops = Clients::get().has_hosts() ? 0 : ops_at_rest() - ops_before_;
    if (resting_) all.ns += steady_now_ns() - rest_began_ns_;
    return all;
  }

  /// Held while the process is forked.
  std::mutex& mutex() noexcept { return lock_; }

 private:
  [[nodiscard]] bool is_wanted() const noexcept {
    return step_ >= first_ && (last_ < 0 || step_ <= last_) && (step_ - first_) % every_ == 0;
  }
  static std::uint64_t ops_at_rest() {
    std::uint64_t sum = 0;
    for (const ThreadState* state : ThreadStates::get().list()) sum += state->ops_at_rest.load();
    return sum;
  }
  void update() {
    const bool rest = on_ && (switched_off_ || !is_wanted());
    if (rest == resting_) return;
    resting_ = rest;
    if (rest) {
      rest_began_ns_ = steady_now_ns();
      Clients::get().switch_on(resting_bit);
    } else {
      left_out_.ns += steady_now_ns() - rest_began_ns_;
      registry().clear();  // what was known may have been changed meanwhile
      Clients::get().switch_off(resting_bit);
    }
  }

  std::mutex lock_;
  std::int64_t every_ = 1;
  std::int64_t first_ = 0;
  std::int64_t last_ = -1;
  std::int64_t step_ = 0;
  bool on_ = false;
  bool switched_off_ = false;
  bool resting_ = false;
  std::uint64_t rest_began_ns_ = 0;
  std::uint64_t ops_before_ = 0;
  logdir::LeftOut left_out_;  // without ops, and the rest under way
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
