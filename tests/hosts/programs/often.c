/* A place that traps millions of times, and what must be seen all the same. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile double zero = 0, one = 1, sum = 0;

__attribute__((noinline)) static void often(int times) {
  for (int i = 0; i < times; ++i) sum = one / zero; /* divsd x/0 */
}

static void* in_thread(void* unused) {
  sum = zero * (one / zero); /* x/0 */
  return unused;
}

/* CPU time of this thread, without an exception. */
static void compute(double seconds) {
  struct timespec now;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((double)now.tv_sec + (double)now.tv_nsec * 1e-9 < seconds);
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  const int times = strcmp(what, "few") == 0 ? 10000 : 3000000;
  often(times);
  if (strcmp(what, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, &in_thread, NULL);
    pthread_join(thread, NULL);
  } else if (strcmp(what, "fork") == 0) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) in_thread(NULL);
    if (child > 0) waitpid(child, NULL, 0);
  } else if (strcmp(what, "later") == 0) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    compute((double)now.tv_sec + (double)now.tv_nsec * 1e-9 + 0.2);
    in_thread(NULL);
  }
  printf("%g %d\n", sum, times);
  return 0;
}
