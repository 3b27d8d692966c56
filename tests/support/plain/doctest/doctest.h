/// @file
/// A stand-in for doctest where its runner does not build (wasm without a file system): the few macros that the kernels' tests
/// use, and a main function.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace plain {

inline int checks = 0;

struct Case {
  const char* name;
  void (*run)();
  Case* next;
  static inline Case* first = nullptr;
  Case(const char* n, void (*r)()) : name(n), run(r), next(first) { first = this; }
};

inline void check(bool ok, const char* text, const char* file, int line) {
  ++checks;
  if (ok) return;
  std::printf("%s:%d: %s is not true\n", file, line, text);
  std::exit(1);
}

}  // namespace plain

#define PLAIN_JOIN_(a, b) a##b
#define PLAIN_JOIN(a, b) PLAIN_JOIN_(a, b)
#define TEST_CASE(name)                                                                       \
  static void PLAIN_JOIN(case_, __LINE__)();                                                  \
  static plain::Case PLAIN_JOIN(entry_, __LINE__)(name, &PLAIN_JOIN(case_, __LINE__));        \
  static void PLAIN_JOIN(case_, __LINE__)()
#define CHECK(...) plain::check(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define REQUIRE(...) CHECK(__VA_ARGS__)
#define CAPTURE(...) static_cast<void>(0)

#if defined(PLAIN_MAIN)
int main() {
  for (const plain::Case* c = plain::Case::first; c != nullptr; c = c->next) {
    std::printf("%s\n", c->name);
    c->run();
  }
  std::printf("%d checks passed\n", plain::checks);
  return plain::checks > 0 ? 0 : 1;
}
#endif
