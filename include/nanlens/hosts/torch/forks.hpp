/// @file
/// What threads share, and a forked process gets: it has one thread, and nobody in it lets go of what another thread
/// held locked when the process was copied.
#pragma once

#include <atomic>

#include <pthread.h>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// One object per process, never destroyed: a forked process begins with one made afresh.
template <class Object>
Object& fresh_in_each_process() {
  static std::atomic<Object*> object{new Object};
  [[maybe_unused]] static const int watched =
      ::pthread_atfork(nullptr, nullptr, [] { object.store(new Object, std::memory_order_relaxed); });
  return *object.load(std::memory_order_relaxed);
}

/// One object, never destroyed, with lock() and unlock(): a forked process has it as it was, with no thread in it.
/// Whoever holds the lock must not record: who forks waits for those that do.
template <class Object>
Object& whole_in_each_process() {
  static auto* const object = new Object;
  [[maybe_unused]] static const int watched =
      ::pthread_atfork([] { object->lock(); }, [] { object->unlock(); }, [] { object->unlock(); });
  return *object;
}

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
