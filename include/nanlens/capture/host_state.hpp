/// @file
/// What a thread's program relies on, and the recorder must neither meet nor leave changed: errno, and how
/// floating-point numbers are computed with.
#pragma once

#include <cerrno>
#include <cfenv>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// While it lives, floating-point exceptions of the calling thread are not trapped, rounding is to nearest, and
/// subnormals are numbers. Then all is as before, flags that were raised meanwhile and errno included.
class HostState {
 public:
  HostState() noexcept : errno_(errno) { begin(); }
  HostState(const HostState&) = delete;
  HostState& operator=(const HostState&) = delete;
  ~HostState() {
    end();
    errno = errno_;
  }

 private:
#if NANLENS_X86_64
  // The register alone: <cfenv> reads and writes the state of the x87 unit as well, at 30 ns, which is not used here.
  void begin() noexcept {
    constexpr unsigned flags = 0x3f;
    constexpr unsigned usual = 0x1f80;  // all exceptions masked
    before_ = __builtin_ia32_stmxcsr();
    if ((before_ & ~flags) != usual) __builtin_ia32_ldmxcsr(usual);
  }
  void end() noexcept {
    if (__builtin_ia32_stmxcsr() != before_) __builtin_ia32_ldmxcsr(before_);
  }
  unsigned before_ = 0;
#else
  void begin() noexcept {
    std::feholdexcept(&before_);
    std::fesetround(FE_TONEAREST);
  }
  void end() noexcept { std::fesetenv(&before_); }
  std::fenv_t before_{};
#endif
  int errno_;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
