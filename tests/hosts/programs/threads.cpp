// Threads that were started before and after anything was trapped, by two libraries; one blocks all signals.
#include <pthread.h>
#include <signal.h>

#include <cstdio>
#include <thread>
#include <vector>

static volatile double zero = 0;
static volatile double one = 1;

__attribute__((noinline)) static double in_thread(double a) {
  return a / zero;  // divsd x/0
}

__attribute__((noinline)) static double in_blocked_thread(double a) {
  return a - a * (one / zero * zero);  // mulsd 0·∞
}

static void* blocked(void*) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  for (int i = 0; i < 10; ++i) in_blocked_thread(one);
  return nullptr;
}

int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 250; ++i) in_thread(one);
    });
  pthread_t thread;
  pthread_create(&thread, nullptr, &blocked, nullptr);
  pthread_join(thread, nullptr);
  for (auto& t : threads) t.join();
  double sum = 0;
#pragma omp parallel for num_threads(3) reduction(+ : sum)
  for (int i = 0; i < 60; ++i) sum += zero / zero;  // divsd 0/0
  std::printf("%g\n", sum);
}
