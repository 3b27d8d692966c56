// A part of a host that records, as matrix_test.py compiles it: with all manner of flags, into programs and libraries.
// NANLENS_UNIT is its name.
#include <nanlens/nanlens.hpp>

#define NANLENS_TEXT_(x) #x
#define NANLENS_TEXT(x) NANLENS_TEXT_(x)
#define NANLENS_NAME_(a, b) a##_##b
#define NANLENS_NAME(a, b) NANLENS_NAME_(a, b)
#define NANLENS_EXPORTED extern "C" __attribute__((visibility("default")))

NANLENS_EXPORTED void NANLENS_NAME(enable, NANLENS_UNIT)(const char* logdir) {
  nanlens::enable_dump_debug_info({.logdir = logdir,
                                   .tensor_debug_mode = nanlens::TensorDebugMode::full_health,
                                   .circular_buffer_size = 0,
                                   .stack = nanlens::StackMode::call_site});
}

NANLENS_EXPORTED void NANLENS_NAME(disable, NANLENS_UNIT)() { nanlens::disable_dump_debug_info(); }

NANLENS_EXPORTED void NANLENS_NAME(work, NANLENS_UNIT)(int times) {
  for (int i = 0; i < times; ++i) {
    const float x[3] = {1, 2, static_cast<float>(i)};
    float y[3] = {};
    nanlens::Function f(NANLENS_TEXT(NANLENS_UNIT) "_step", nanlens::arg("x", x));
    for (int k = 0; k < 3; ++k) y[k] = 2 * x[k];
    nanlens::record(NANLENS_TEXT(NANLENS_UNIT) "_double", nanlens::outputs(y), nanlens::inputs(x));
    f.result(y);
  }
}

// 1: stopped at the NaN; 0: went on.
NANLENS_EXPORTED int NANLENS_NAME(check, NANLENS_UNIT)() {
  const float zero = 0;
  nanlens::enable_check_numerics();
  int stopped = 0;
#if defined(__cpp_exceptions) && !defined(NANLENS_DISABLE)
  try {
    (void)nanlens::op(NANLENS_TEXT(NANLENS_UNIT) "_divide", __builtin_nanf(""), zero);
  } catch (const nanlens::NumericsError&) {
    stopped = 1;
  }
#else
  (void)nanlens::op(NANLENS_TEXT(NANLENS_UNIT) "_divide", zero + 1, zero);
#endif
  nanlens::disable_check_numerics();
  return stopped;
}
