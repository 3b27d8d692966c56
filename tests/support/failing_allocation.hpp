/// @file
/// Lets one allocation fail, or signals come in all: programs with failing_allocation.cpp.
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

/// While it lives, one allocation of threads other than its own fails, after `before` others of theirs.
class FailingElsewhere {
 public:
  explicit FailingElsewhere(long before) noexcept;
  FailingElsewhere(const FailingElsewhere&) = delete;
  FailingElsewhere& operator=(const FailingElsewhere&) = delete;
  ~FailingElsewhere();
  [[nodiscard]] static bool has_failed() noexcept;
};

/// While it lives, a signal comes in the middle of every allocation of this thread.
class InterruptedAllocations {
 public:
  explicit InterruptedAllocations(int signal) noexcept;
  InterruptedAllocations(const InterruptedAllocations&) = delete;
  InterruptedAllocations& operator=(const InterruptedAllocations&) = delete;
  ~InterruptedAllocations();
  /// For the signal's handler: true if it has interrupted one.
  [[nodiscard]] static bool inside() noexcept;
};

}  // namespace nanlens::test
