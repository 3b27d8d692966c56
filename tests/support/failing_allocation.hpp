/// @file
/// Lets one allocation of a thread fail: programs with failing_allocation.cpp.
#pragma once

namespace nanlens::test {

/// While it lives, the allocation that `before` others of this thread precede fails.
class FailingAllocation {
 public:
  explicit FailingAllocation(long before) noexcept;
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();
};

}  // namespace nanlens::test
