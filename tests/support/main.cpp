#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

// To keep the whole stack of every allocation takes an eighth of the time of tests with the address sanitizer. For all
// that it can tell of memory that leaks or is used too late: ASAN_OPTIONS=malloc_context_size=30.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "malloc_context_size=2"; }
