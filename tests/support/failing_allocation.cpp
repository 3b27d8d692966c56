#include "failing_allocation.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local long left = -1;  // allocations until one fails; −1: none does

}  // namespace

namespace nanlens::test {

FailingAllocation::FailingAllocation(long before) noexcept { left = before; }
FailingAllocation::~FailingAllocation() { left = -1; }

}  // namespace nanlens::test

void* operator new(std::size_t size) {
  if (left >= 0 && left-- == 0) throw std::bad_alloc();
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
