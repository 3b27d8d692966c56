// How functions are named in which an exception was trapped.
#include <doctest/doctest.h>

#include <nanlens/hosts/traps/called_function.hpp>

using namespace nanlens::traps::detail;

TEST_CASE("a function of the C library has its usual name") {
  CHECK(plain_name("powf64") == "pow");
  CHECK(plain_name("lroundf32x") == "lround");
  CHECK(plain_name("lroundf32") == "lroundf");
  CHECK(plain_name("_ZGVdN4vv_pow") == "pow");
  CHECK(plain_name("exp") == "exp");
}

TEST_CASE("a function of C++ is its name alone") {
  CHECK(bare_name("dgemm_kernel") == "dgemm_kernel");
  CHECK(bare_name("void c10::function_ref<void (char**, long)>::callback_fn<at::Loop<int>>(long, char**)") ==
        "c10::function_ref::callback_fn");
  CHECK(bare_name("solve(double*)::{lambda(int)#1}::operator()(int) const") == "solve");
  CHECK(bare_name("std::vector<double, std::allocator<double>>::at(unsigned long)") == "std::vector::at");
  CHECK(bare_name("<f64 as core::ops::Div>::div") == "div");
  CHECK(bare_name("") == "");
}
