/* Functions of the C library, each of which raises what its line's comment says, whatever it computes inside. */
#include <math.h>

static volatile double zero = 0, negative = -4, large = 1e300, infinite = INFINITY, two = 2, sink;
static volatile float small_zero = 0, small_large = 1e30f;
static double (*volatile some)(double) = log;

int main(void) {
  sink = log(zero);              /* x/0 in log */
  sink = log(negative);          /* invalid operation in log */
  sink = sqrt(negative);         /* root of a negative number in sqrt */
  sink = pow(zero, -1);          /* x/0 in pow */
  sink = pow(negative, 0.5);     /* invalid operation in pow */
  sink = exp(large);             /* overflow in exp */
  sink = acos(two);              /* invalid operation in acos */
  sink = fmod(two, zero);        /* invalid operation in fmod */
  sink = sin(infinite);          /* invalid operation in sin */
  sink = logf(small_zero);       /* x/0 in logf */
  sink = expf(small_large);      /* overflow in expf */
  sink = log10(zero);            /* x/0 in log10 */
  sink = cosh(large);            /* overflow in cosh */
  sink = fma(zero, infinite, 2); /* 0·∞ in fma */
  sink = (double)lround(large);  /* conversion beyond the integers in lround */
  sink = some(zero);             /* x/0 in the C library */
  return 0;
}
