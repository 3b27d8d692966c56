/* Two places of one function and one of another, which are told together where lines are not known. */
#include <stdio.h>

static volatile double zero = 0, sum = 0;

__attribute__((noinline)) static void twice(double x) {
  sum += x / zero;       /* divsd x/0 */
  sum += (x + 1) / zero; /* divsd x/0 */
}

__attribute__((noinline)) static void once(double x) { sum += x / zero; /* divsd x/0 */ }

int main(void) {
  for (int i = 1; i <= 10; ++i) twice(i);
  for (int i = 1; i <= 5; ++i) once(i);
  printf("%g\n", sum);
  return 0;
}
