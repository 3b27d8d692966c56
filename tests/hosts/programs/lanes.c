/* Loops that a compiler makes wide, and instructions of every width by hand. */
#include <immintrin.h>
#include <stdio.h>

static float below[64], above[64], out[64];

__attribute__((noinline)) static void divide(int n) {
  for (int i = 0; i < n; ++i) out[i] = above[i] / below[i]; /* divps */
}

__attribute__((noinline)) static double wide(double* d, int step) {
  double lanes[8] = {0};
  const __m256d x = _mm256_loadu_pd(d), y = _mm256_loadu_pd(d + 4);
  switch (step) {
    case 0: _mm256_storeu_pd(lanes, _mm256_div_pd(x, y)); break;      /* vdivpd 0/0 */
    case 1: _mm256_storeu_pd(lanes, _mm256_fmadd_pd(x, y, x)); break; /* vfmadd 0·∞ */
    case 2: _mm256_storeu_pd(lanes, _mm256_sqrt_pd(x)); break;        /* vsqrtpd root of a negative number */
    default: _mm_storeu_ps((float*)lanes, _mm256_cvtpd_ps(x)); break; /* vcvtpd2ps overflow */
  }
  return lanes[1];
}

#ifdef __AVX512F__
__attribute__((noinline)) static double widest(double* d, double* e) {
  double lanes[8];
  const __m512d some = _mm512_maskz_div_pd(0x0F, _mm512_loadu_pd(d), _mm512_set1_pd(e[0])); /* vdivpd x/0 */
  _mm512_storeu_pd(lanes, some);
  return lanes[2] + lanes[7];
}
#endif

int main(void) {
  for (int i = 0; i < 64; ++i) {
    above[i] = (float)i;
    below[i] = (float)(i % 16);
  }
  divide(64);
  printf("%g %g %g\n", (double)out[0], (double)out[16], (double)out[17]);
  double d[8] = {1, 0, 3, 4, 1, 0, 3, 4};
  printf("%g\n", wide(d, 0));
  double e[8] = {1, 0, 3, 4, 1, __builtin_inf(), 3, 4};
  printf("%g\n", wide(e, 1));
  double f[8] = {1, -1, 3, 4};
  printf("%g\n", wide(f, 2));
  double g[8] = {1, 1e300, 3, -1e300};
  printf("%g\n", wide(g, 3));
#ifdef __AVX512F__
  double h[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  double z[8] = {0};
  printf("%g\n", widest(h, z));
#endif
  return 0;
}
