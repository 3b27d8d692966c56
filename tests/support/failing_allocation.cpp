#include "failing_allocation.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <new>

namespace {

[[maybe_unused]] thread_local long left = -1;            // allocations until one fails; −1: none does
[[maybe_unused]] std::atomic<long> left_elsewhere = -1;  // of other threads than those with an object
[[maybe_unused]] thread_local bool spared = false;
[[maybe_unused]] thread_local int interrupting = 0;  // the signal that comes in every allocation
[[maybe_unused]] thread_local volatile bool allocating = false;

[[maybe_unused]] bool fails() noexcept {
  if (left >= 0) return left-- == 0;
  return !spared && left_elsewhere.load() >= 0 && left_elsewhere.fetch_sub(1) == 0;
}

[[maybe_unused]] void interrupt() noexcept {
  if (interrupting == 0) return;
  allocating = true;
  std::raise(interrupting);
  allocating = false;
}

}  // namespace

namespace nanlens::test {

FailingAllocation::FailingAllocation(long before) noexcept { left = before; }
FailingAllocation::~FailingAllocation() { left = -1; }

FailingElsewhere::FailingElsewhere(long before) noexcept {
  spared = true;
  left_elsewhere = before;
}
FailingElsewhere::~FailingElsewhere() {
  left_elsewhere = -1;
  spared = false;
}
bool FailingElsewhere::has_failed() noexcept { return left_elsewhere.load() < 0; }

InterruptedAllocations::InterruptedAllocations(int signal) noexcept { interrupting = signal; }
InterruptedAllocations::~InterruptedAllocations() { interrupting = 0; }
bool InterruptedAllocations::inside() noexcept { return allocating; }

}  // namespace nanlens::test

// The thread sanitizer has operators of its own: nothing fails there.
#if defined(__SANITIZE_THREAD__)
#define NANLENS_OWN_OPERATORS 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NANLENS_OWN_OPERATORS 0
#endif
#endif
#if !defined(NANLENS_OWN_OPERATORS)
void* operator new(std::size_t size) {
  interrupt();
  if (fails()) throw std::bad_alloc();
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif
