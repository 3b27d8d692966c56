#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

// To keep the whole stack of every allocation takes an eighth of the time of tests with the address sanitizer. For all
// that it can tell of memory that leaks or is used too late: ASAN_OPTIONS=malloc_context_size=30. Of frames that are
// gone it keeps fewer than it would: tests that fork copy them all.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "malloc_context_size=2:max_uar_stack_size_log=16"; }
