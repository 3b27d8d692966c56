/// @file
/// What fork means for a recording: the child has one thread, and neither the parent's files nor its writer. It begins
/// a run of its own at its first event.
#pragma once

#include <mutex>

#include <pthread.h>

#include <nanlens/capture/check_settings.hpp>
#include <nanlens/capture/sessions.inl>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// Everything that is locked while the process is copied, so that the child finds it whole.
template <class Each>
void for_each_lock(Each&& each) {
  each(Sampler::get().mutex());
  each(ThreadStates::get().mutex());
  each(Catalog::get().mutex());
  each(CheckSettings::get().lock);
  each(Clients::get().mutex());
}

inline void before_fork() {
  Sessions::get().lock.lock();
  forking.store(true);
  wait_for_recording_threads();
  if (Session* const session = current_session.load()) session->mutex().lock();
  for_each_lock([](std::mutex& m) { m.lock(); });
}

inline void after_fork_in_parent() {
  for_each_lock([](std::mutex& m) { m.unlock(); });
  if (Session* const session = current_session.load()) session->mutex().unlock();
  forking.store(false);
  Sessions::get().lock.unlock();
}

inline void after_fork_in_child() {
  Sessions& sessions = Sessions::get();
  ThreadStates::get().keep_only(this_thread());
  for_each_lock([](std::mutex& m) { m.unlock(); });
  Sampler::get().forget_switch();
  if (Session* const session = current_session.exchange(nullptr)) {
    session->mutex().unlock();
    session->abandon();
    sessions.inherited = session->options();
    Clients::get().switch_off(dump_bits);
    if (sessions.inherited.record_children) Clients::get().switch_on(forked_bit);
  }
  for (auto& session : sessions.list) sessions.of_parents.push_back(std::move(session));
  sessions.list.clear();
  sessions.run_id.clear();
  sessions.forked = true;
  sessions.from_environment = false;
  forking.store(false);
  sessions.lock.unlock();
}

inline void watch_forks() {
#if NANLENS_HAS_THREADS
  ::pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
#endif
}

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
