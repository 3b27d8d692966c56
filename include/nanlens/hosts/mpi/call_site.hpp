/// @file
/// Where the program calls MPI. A stack that is the same as at an earlier call is not walked again.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include <unwind.h>

#include <nanlens/capture/hash.hpp>
#include <nanlens/capture/stack_walk.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN mpi_host {

/// A call of one of MPI's functions, seen from there.
struct Caller {
  const void* pc;     ///< the return address
  const void* frame;  ///< the function's own
};

/// The frames from a call of MPI on, innermost first; lasts as long as the program.
struct CallStack {
  std::vector<std::uintptr_t> pcs;
  std::vector<std::size_t>
      places;  ///< where the return addresses lie, counted from the frame of MPI's function; or none

  /// Is it the stack of the calling thread? `frame`: the frame of MPI's function. With the same frame, and every return
  /// address where it was, the way from each frame to its caller is the same, too.
  [[nodiscard]] bool is_at(std::uintptr_t frame) const noexcept {
    for (std::size_t i = 0; i < places.size(); ++i)
      if (*reinterpret_cast<const std::uintptr_t*>(frame + places[i]) != pcs[i]) return false;
    return !places.empty();
  }
};

/// A walk that notes where the return addresses lie.
class PlacedWalk {
 public:
  /// Keeps what lies from `caller` on: the return address of MPI's function, whose frame is `frame`.
  PlacedWalk(std::uintptr_t caller, std::uintptr_t frame) noexcept : caller_(caller), frame_(frame) {
    _Unwind_Backtrace(&add, this);
    if (size_ > 0) return;
    pcs_[size_++] = caller;  // the stack can't be read
    placed_ = false;
  }
  [[nodiscard]] std::uint64_t hash() const noexcept {
    std::uint64_t hash = size_;
    for (std::size_t i = 0; i < size_; ++i) hash = nanlens::detail::mix(nanlens::detail::mix(hash, pcs_[i]), place(i));
    return hash;
  }
  [[nodiscard]] std::unique_ptr<const CallStack> kept() const {
    auto stack = std::make_unique<CallStack>();
    stack->pcs.assign(pcs_.begin(), pcs_.begin() + static_cast<std::ptrdiff_t>(size_));
    for (std::size_t i = 0; placed_ && i < size_; ++i) stack->places.push_back(place(i));
    return stack;
  }

 private:
  static constexpr std::size_t most_frames = nanlens::detail::max_stack_frames;

  [[nodiscard]] std::size_t place(std::size_t i) const noexcept { return placed_ ? places_[i] : 0; }

  static _Unwind_Reason_Code add(_Unwind_Context* context, void* to) noexcept {
    auto& walk = *static_cast<PlacedWalk*>(to);
    const std::uintptr_t pc = _Unwind_GetIP(context);
    if (pc == 0 || walk.size_ == most_frames) return _URC_END_OF_STACK;
    if (walk.size_ == 0 && pc != walk.caller_) return _URC_NO_REASON;  // nanlens' own
#if defined(__x86_64__)
    const std::uintptr_t place = _Unwind_GetCFA(context) - sizeof(std::uintptr_t);  // where the call has put it
    walk.placed_ = walk.placed_ && place >= walk.frame_ && *reinterpret_cast<const std::uintptr_t*>(place) == pc;
    walk.places_[walk.size_] = place - walk.frame_;
#else
    walk.placed_ = false;
#endif
    walk.pcs_[walk.size_++] = pc;
    return _URC_NO_REASON;
  }

  std::uintptr_t caller_;
  std::uintptr_t frame_;
  std::array<std::uintptr_t, most_frames> pcs_;
  std::array<std::size_t, most_frames> places_;
  std::size_t size_ = 0;
  bool placed_ = true;
};

/// The stack that was walked, kept for good; where there are too many, the innermost frame of it.
inline const CallStack* kept_stack(const PlacedWalk& walk, std::uintptr_t caller) {
  constexpr std::size_t most_stacks = 16'384;
  static std::mutex lock;
  static auto* const all = new std::unordered_map<std::uint64_t, std::unique_ptr<const CallStack>>;
  const std::uint64_t hash = walk.hash();
  const std::lock_guard guard(lock);
  if (const auto found = all->find(hash); found != all->end()) return found->second.get();
  if (all->size() < most_stacks) return all->emplace(hash, walk.kept()).first->second.get();
  auto& alone = (*all)[caller];
  if (alone == nullptr) alone = std::make_unique<const CallStack>(CallStack{{caller}, {}});
  return alone.get();
}

/// The stack of the calling thread.
inline const CallStack* find_stack(const Caller& caller) {
  struct Known {
    std::uintptr_t pc;
    std::uintptr_t frame;
    const CallStack* stack;
  };
  static thread_local std::array<Known, 64> known{};
  const auto pc = reinterpret_cast<std::uintptr_t>(caller.pc);
  const auto frame = reinterpret_cast<std::uintptr_t>(caller.frame);
  Known& entry = known[nanlens::detail::mix(pc, frame) % known.size()];
  if (entry.pc != pc || entry.frame != frame || !entry.stack->is_at(frame))
    entry = {pc, frame, kept_stack(PlacedWalk(pc, frame), pc)};
  return entry.stack;
}

/// Where MPI is called, and which of its functions.
struct CallSite {
  const char* function = "";
  const CallStack* stack = nullptr;
};

}  // namespace NANLENS_HIDDEN mpi_host
}  // namespace nanlens::inline NANLENS_ABI
