double ratio(double a, double b) {
  const double r = a / b; /* divsd 0/0 */
  return r;
}
