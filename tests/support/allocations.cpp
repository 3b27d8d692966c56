#include "allocations.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace nanlens::test {

Allocations allocations;

namespace {

// The size goes before the memory.
constexpr std::size_t room_before = alignof(std::max_align_t);

void* allocate(std::size_t size) noexcept {
  ++allocations.count;
  if (allocations.fail_at != 0 && allocations.count >= allocations.fail_at) return nullptr;
  void* const memory = std::malloc(size + room_before);
  if (memory == nullptr) return nullptr;
  *static_cast<std::size_t*>(memory) = size;
  allocations.in_use += size;
  allocations.peak = std::max(allocations.peak, allocations.in_use);
  return static_cast<char*>(memory) + room_before;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  void* const whole = static_cast<char*>(memory) - room_before;
  allocations.in_use -= *static_cast<std::size_t*>(whole);
  std::free(whole);
}

}  // namespace
}  // namespace nanlens::test

void* operator new(std::size_t size) {
  if (void* const memory = nanlens::test::allocate(size)) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return ::operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return nanlens::test::allocate(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return nanlens::test::allocate(size); }
void operator delete(void* memory) noexcept { nanlens::test::release(memory); }
void operator delete[](void* memory) noexcept { nanlens::test::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { nanlens::test::release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { nanlens::test::release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { nanlens::test::release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { nanlens::test::release(memory); }
