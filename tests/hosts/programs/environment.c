/* Programs that have a floating-point environment, or a handler, of their own: `environment WHAT`. */
#define _GNU_SOURCE
#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile double zero = 0, one = 1;
static sigjmp_buf back;
static volatile int code;

static void on_signal(int signal, siginfo_t* info, void* context) {
  (void)signal;
  (void)context;
  code = info->si_code;
  siglongjmp(back, 1);
}

static void handle(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGFPE, &action, NULL);
}

__attribute__((noinline)) static double divide(double a) {
  return a / zero;  // divsd x/0
}

static void divided(const char* what) { printf("%s %g %d\n", what, divide(one), fetestexcept(FE_DIVBYZERO) != 0); }

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "cleared") == 0) {
    for (int i = 0; i < 3; ++i) {
      divided(what);
      feclearexcept(FE_ALL_EXCEPT);
    }
  } else if (strcmp(what, "default") == 0) {
    fesetenv(FE_DFL_ENV);
    divided(what);
  } else if (strcmp(what, "held") == 0) {
    fenv_t before;
    feholdexcept(&before);
    divide(one);
    fesetenv(&before);
    puts("held");
  } else if (strcmp(what, "enabled") == 0) {
    handle();
    printf("%d", fegetexcept());
    feenableexcept(FE_DIVBYZERO);
    printf(" %d\n", fegetexcept());
    if (sigsetjmp(back, 1) == 0) divide(one);
    printf("caught %d\n", code == FPE_FLTDIV);
  } else if (strcmp(what, "fatal") == 0) {
    feenableexcept(FE_DIVBYZERO);
    divide(one);
  } else if (strcmp(what, "handled") == 0) {
    handle();
    divided(what);
    volatile int none = 0;
    if (sigsetjmp(back, 1) == 0) printf("%d\n", 1 / none);
    printf("caught %d\n", code == FPE_INTDIV);
  } else if (strcmp(what, "fork") == 0) {
    divided("parent");
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      printf("child %g\n", zero / zero); /* divsd 0/0 */
      exit(0);
    }
    waitpid(child, NULL, 0);
  } else if (strcmp(what, "_exit") == 0) {
    divide(one);
    _exit(4);
  } else if (strcmp(what, "abort") == 0) {
    divide(one);
    abort();
  } else if (strcmp(what, "long double") == 0) {
    volatile long double of_x87 = 0;
    of_x87 = 1 / of_x87;
    printf("%Lg\n", of_x87);
  } else if (strcmp(what, "clean") == 0) {
    puts("clean");
  }
  return 0;
}
