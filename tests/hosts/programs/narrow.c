/* Instructions of newer processors: halves, unsigned integers, and parts of numbers. */
#include <immintrin.h>
#include <stdio.h>

static volatile float large = 1e30f;
static volatile double negative = -1, one = 1;

int main(void) {
  unsigned short halves[8];
  const __m128 four = _mm_set_ps(1, large, 1, 1);
  _mm_storel_epi64((__m128i*)halves, _mm_cvtps_ph(four, 0)); /* vcvtps2ph overflow */
  printf("%x\n", halves[2]);
#ifdef __AVX512DQ__
  printf("%u\n", _mm_cvttsd_u32(_mm_set_sd(negative))); /* vcvttsd2usi conversion beyond the integers */
  const __m512d scaled = _mm512_scalef_pd(_mm512_set1_pd(one), _mm512_set1_pd(2000)); /* vscalefpd overflow */
  printf("%g\n", _mm512_reduce_max_pd(scaled));
#endif
  return 0;
}
