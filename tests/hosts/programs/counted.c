/* A vector of NaN that is compared again and again: each time follows from the first. */
#include <math.h>
#include <stdio.h>
#include <xmmintrin.h>

static volatile float zero = 0;

int main(void) {
  const float infinite = 1 / zero; /* divss x/0 */
  volatile float sum = 0;
  for (int i = 0; i < 100; ++i) {
    const __m128 nan = _mm_set1_ps(nanf(""));
    sum += _mm_cvtss_f32(_mm_max_ps(_mm_set1_ps((float)i), nan)); /* maxps comparison with NaN */
  }
  printf("%g %g\n", sum, infinite);
  return 0;
}
