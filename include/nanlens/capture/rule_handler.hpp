/// @file
/// Who is told of what a rule of the recording program has found.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <nanlens/capture/rule_hit.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {

/// A function that is told of a hit. Copies are equal; two that are made of equal functions are not.
class RuleHandler {
 public:
  RuleHandler() = default;
  template <class Function>
    requires std::invocable<const Function&, const RuleHit&> &&
                 (!std::is_same_v<std::remove_cvref_t<Function>, RuleHandler>)
  // NOLINTNEXTLINE(google-explicit-constructor): a lambda is what callers write
  RuleHandler(Function function)
      : call_(std::make_shared<const std::function<void(const RuleHit&)>>(std::move(function))),
        identity_(call_.get()) {}

  explicit operator bool() const noexcept { return call_ != nullptr; }
  void operator()(const RuleHit& hit) const { (*call_)(hit); }
  /// What tells it from others.
  [[nodiscard]] const void* identity() const noexcept { return identity_; }
  /// From now on it passes for another one that it calls.
  void stand_for(const void* identity) noexcept { identity_ = identity; }

  friend bool operator==(const RuleHandler& a, const RuleHandler& b) noexcept { return a.identity_ == b.identity_; }

 private:
  std::shared_ptr<const std::function<void(const RuleHit&)>> call_;
  const void* identity_ = nullptr;
};

}  // namespace nanlens::inline NANLENS_ABI
