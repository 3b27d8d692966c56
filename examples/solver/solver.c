/* Heat in a rod of cells. The last cells have no volume, which nobody noticed. */
#include <stdio.h>

enum { cells = 1000, steps = 200 };

static double volume[cells], energy[cells], temperature[cells];

static void flux(void) {
  for (int i = 0; i < cells; ++i) temperature[i] = energy[i] / volume[i];
  for (int i = 1; i + 1 < cells; ++i)
    energy[i] += 0.1 * (temperature[i - 1] - 2 * temperature[i] + temperature[i + 1]);
}

int main(void) {
  for (int i = 0; i < cells; ++i) {
    volume[i] = i < 997 ? 1 : 0;
    energy[i] = i < 500 ? 1 : 0;
  }
  for (int step = 0; step < steps; ++step) flux();
  double sum = 0;
  for (int i = 0; i < cells; ++i) sum += energy[i];
  printf("energy %g\n", sum);
}
