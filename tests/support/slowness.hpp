/// @file
/// How much slower a sanitizer makes a test program, about: what repeats a check many times does so less often there.
#pragma once

namespace nanlens::test {

#if defined(NANLENS_SANITIZED)
inline constexpr int slowness = 10;
#else
inline constexpr int slowness = 1;
#endif

}  // namespace nanlens::test
