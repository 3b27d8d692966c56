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
  void join(Client& client) {
    const std::lock_guard guard(lock_);
    if (std::find(list_.begin(), list_.end(), &client) == list_.end()) list_.push_back(&client);
    client.active.store(bits());
  }
  void leave(const Client& client) {
    const std::lock_guard guard(lock_);
    std::erase(list_, &client);
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
  /// Held while the process is forked.
  std::mutex& mutex() noexcept { return lock_; }

 private:
  unsigned set(unsigned bits) noexcept {
    const unsigned before = bits_.exchange(bits);
    for (Client* const client : list_) client->active.store(bits);
    return before;
  }

  std::mutex lock_;
  std::vector<Client*> list_;
  std::atomic<unsigned> bits_{environment_unread_bit};
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
