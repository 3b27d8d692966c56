/* Calls a library of which only the names of functions are known. */
double ratio(double a, double b);

int main(void) {
  volatile double zero = 0;
  volatile double nothing = ratio(zero, zero); /* divsd 0/0 in ratio */
  (void)nothing;
  return 0;
}
