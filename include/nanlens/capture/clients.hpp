/// @file
/// The programs and libraries that record into one recorder, and what is switched on for all of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <vector>

#include <nanlens/capture/client.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

class Clients {
 public:
  static Clients& get() {
    // Never destroyed, and there even where there is no memory to be had.
    alignas(Clients) static unsigned char memory[sizeof(Clients)];
    static Clients* const clients = new (memory) Clients;
    return *clients;
  }

  /// What is switched on.
  [[nodiscard]] unsigned bits() const noexcept { return bits_.load(std::memory_order_relaxed); }
  /// The same as clients see it: check_numerics looks at ops while recording rests.
  [[nodiscard]] unsigned visible() const noexcept { return visible(bits()); }
  void join(Client& client) {
    const std::lock_guard guard(lock_);
    if (std::find(list_.begin(), list_.end(), &client) == list_.end()) list_.push_back(&client);
    client.active.store(visible());
  }
  void leave(const Client& client) {
    const std::lock_guard guard(lock_);
    std::erase(list_, &client);
  }
  /// A host is told when its ops are no longer wanted, and when they are again.
  void follow(void (*rest)(bool) noexcept) {
    const std::lock_guard guard(lock_);
    hosts_.push_back(rest);
    if (rests()) rest(true);
  }
  void unfollow(void (*rest)(bool) noexcept) {
    const std::lock_guard guard(lock_);
    std::erase(hosts_, rest);
  }
  /// A host that is told need not tell of each op: then they can't be counted.
  bool has_hosts() {
    const std::lock_guard guard(lock_);
    return !hosts_.empty();
  }
  /// What was on before.
  unsigned switch_on(unsigned bit) {
    const std::lock_guard guard(lock_);
    return set(bits() | bit);
  }
  unsigned switch_off(unsigned bit) {
    const std::lock_guard guard(lock_);
    return set(bits() & ~bit);
  }
  /// Both at once: no thread sees a moment at which nothing is on.
  void replace(unsigned off, unsigned on) {
    const std::lock_guard guard(lock_);
    set((bits() & ~off) | on);
  }
  /// Held while the process is forked.
  std::mutex& mutex() noexcept { return lock_; }

 private:
  static constexpr unsigned visible(unsigned bits) noexcept {
    return (bits & checking_bit) != 0 ? bits & ~resting_bit : bits;
  }
  [[nodiscard]] bool rests() const noexcept { return (visible() & resting_bit) != 0; }
  unsigned set(unsigned bits) noexcept {
    const bool rested = rests();
    const unsigned before = bits_.exchange(bits);
    for (Client* const client : list_) client->active.store(visible(bits));
    if (rests() != rested)
      for (const auto rest : hosts_) rest(!rested);
    return before;
  }

  std::mutex lock_;
  std::vector<Client*> list_;
  std::vector<void (*)(bool) noexcept> hosts_;
  std::atomic<unsigned> bits_{environment_unread_bit};
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
