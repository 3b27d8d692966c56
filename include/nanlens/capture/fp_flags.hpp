/// @file
/// Floating-point exceptions raised by a piece of code (IEEE 754 section 7), by means of <cfenv>.
#pragma once

#include <cfenv>
#include <cstdint>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::detail {

/// @name Bits of NanlensExtension.fp_flags
///@{
inline constexpr std::uint32_t fp_invalid = 1;
inline constexpr std::uint32_t fp_divide_by_zero = 2;
inline constexpr std::uint32_t fp_overflow = 4;
inline constexpr std::uint32_t fp_underflow = 8;
///@}

/// Watches the calling thread between `begin` and `end`; afterwards flags are as they would be without it. Compilers
/// may move arithmetic across such calls unless they are told not to (-ftrapping-math, FENV_ACCESS): what a function
/// call does in between is seen for certain.
class FpFlags {
 public:
  void begin() noexcept {
    begun_ = std::fegetexceptflag(&before_, FE_ALL_EXCEPT) == 0 && std::feclearexcept(FE_ALL_EXCEPT) == 0;
  }
  [[nodiscard]] bool begun() const noexcept { return begun_; }
  /// What was raised since `begin`.
  std::uint32_t end() noexcept {
    const int raised = std::fetestexcept(FE_ALL_EXCEPT);
    // The host sees what it would see without us: what was set before, and what the op has set. Setting a flag does not
    // trap, raising one may.
    std::fexcept_t now{};
    std::fegetexceptflag(&now, raised);
    std::fesetexceptflag(&before_, FE_ALL_EXCEPT);
    std::fesetexceptflag(&now, raised);
    begun_ = false;
    std::uint32_t bits = 0;
#ifdef FE_INVALID
    if ((raised & FE_INVALID) != 0) bits |= fp_invalid;
#endif
#ifdef FE_DIVBYZERO
    if ((raised & FE_DIVBYZERO) != 0) bits |= fp_divide_by_zero;
#endif
#ifdef FE_OVERFLOW
    if ((raised & FE_OVERFLOW) != 0) bits |= fp_overflow;
#endif
#ifdef FE_UNDERFLOW
    if ((raised & FE_UNDERFLOW) != 0) bits |= fp_underflow;
#endif
    return bits;
  }

 private:
  std::fexcept_t before_{};
  bool begun_ = false;
};

}  // namespace nanlens::inline NANLENS_ABI::detail
