/// @file
/// A lock that one thread takes all the time and others now and then, at the cost of the others.
#pragma once

#include <atomic>

#include <sched.h>

#include <nanlens/capture/platform.hpp>
#include <nanlens/capture/uneven_fence.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// Taken by its owner, one thread, through `owner()`, where an UnevenFence is cheap without an atomic exchange; by all
/// others as any lock.
class UnevenLock {
 public:
  void lock() noexcept {
    others_.lock();
    wanted_.store(true);
    UnevenFence::get().wait();
    while (held_.load()) ::sched_yield();
  }
  void unlock() noexcept {
    wanted_.store(false, std::memory_order_release);
    others_.unlock();
  }

  /// What the owner locks.
  class Owner {
   public:
    void lock() noexcept {
      for (;;) {
        UnevenFence::get().store(lock_.held_, true);
        if (!lock_.wanted_.load()) [[likely]]
          return;
        unlock();
        while (lock_.wanted_.load(std::memory_order_relaxed)) ::sched_yield();
      }
    }
    void unlock() noexcept { lock_.held_.store(false, std::memory_order_release); }

   private:
    friend class UnevenLock;
    explicit Owner(UnevenLock& lock) noexcept : lock_(lock) {}
    UnevenLock& lock_;
  };
  [[nodiscard]] Owner owner() noexcept { return Owner(*this); }

 private:
  SpinLock others_;
  std::atomic<bool> held_{false};    // by the owner
  std::atomic<bool> wanted_{false};  // by another
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
