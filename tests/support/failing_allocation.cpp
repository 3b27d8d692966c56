#include "failing_allocation.hpp"

#include <cstdlib>
#include <new>

namespace {

[[maybe_unused]] thread_local long left = -1;  // allocations until one fails; −1: none does

}  // namespace

namespace nanlens::test {

FailingAllocation::FailingAllocation(long before) noexcept { left = before; }
FailingAllocation::~FailingAllocation() { left = -1; }

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
  if (left >= 0 && left-- == 0) throw std::bad_alloc();
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif
