/* An instruction that nanlens does not know. */
#include <stdio.h>

typedef double Pair __attribute__((vector_size(16)));

static volatile double large = 1e300;

int main(void) {
  const Pair from = {large, large};
  int to[2];
  __asm__("cvttpd2pi %1, %%mm0\n\tmovq %%mm0, %0\n\temms" /* instruction invalid operation */
          : "=m"(to)
          : "x"(from)
          : "mm0");
  printf("%d\n", to[0]);
  return 0;
}
