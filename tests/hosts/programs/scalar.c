/* Every kind of exception, one on a line: what the line's comment says is what must be on record there. Prints results
   and flags, which nobody may change. */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static volatile double zero = 0, one = 1, huge = 1e308, infinite = INFINITY, negative = -4, quiet = NAN;
static volatile float small_zero = 0, small_huge = 1e38f;

static double signalling(void) {
  const unsigned long long bits = 0x7FF4000000000001ULL;
  double value = 0;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void show(const char* name, double value) {
  unsigned long long bits = 0;
  memcpy(&bits, &value, sizeof bits);
  printf("%s %016llx %x\n", name, bits, (unsigned)fetestexcept(FE_ALL_EXCEPT));
  feclearexcept(FE_ALL_EXCEPT);
}

int main(void) {
  static volatile double snan;
  snan = signalling();
  show("a", zero / zero);                       /* divsd 0/0 */
  show("b", infinite / infinite);               /* divsd ∞/∞ */
  show("c", one / zero);                        /* divsd x/0 */
  show("d", zero * infinite);                   /* mulsd 0·∞ */
  show("e", infinite - infinite);               /* subsd ∞−∞ */
  show("f", infinite + -infinite);              /* ∞−∞ */
  show("g", __builtin_sqrt(negative));          /* sqrtsd root of a negative number */
  show("h", huge * huge);                       /* mulsd overflow */
  show("i", huge + huge);                       /* addsd overflow */
  show("j", (double)(long long)huge);           /* cvttsd2si conversion beyond the integers */
  show("k", snan + one);                        /* addsd signalling NaN */
  show("l", huge > one && zero < quiet);        /* comisd comparison with NaN */
  show("m", (double)(small_zero / small_zero)); /* divss 0/0 */
  show("n", (double)(small_huge * small_huge)); /* mulss overflow */
  show("o", (double)(float)huge);               /* cvtsd2ss overflow */
  show("p", log(zero));                         /* x/0 in log */
  show("q", quiet + one);
  feraiseexcept(FE_DIVBYZERO); /* x/0 in feraiseexcept */
  show("r", one / 3);
  return 7;
}
