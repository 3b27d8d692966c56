#include <doctest/doctest.h>

#include <mutex>
#include <thread>
#include <vector>

#include <nanlens/capture/uneven_lock.hpp>

using namespace nanlens;

TEST_CASE("an uneven lock keeps its owner and all others apart") {
  detail::UnevenFence::get().prepare();
  detail::UnevenLock lock;
  constexpr int by_owner = 200'000;
  constexpr int by_other = 2'000;
  long count = 0;
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&] {
      for (int k = 0; k < by_other; ++k) {
        const std::lock_guard guard(lock);
        ++count;
      }
    });
  detail::UnevenLock::Owner owner = lock.owner();
  for (int k = 0; k < by_owner; ++k) {
    const std::lock_guard guard(owner);
    ++count;
  }
  for (std::thread& other : others) other.join();
  CHECK(count == by_owner + 3 * by_other);
}
