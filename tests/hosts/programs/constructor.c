/* A program that opens a library whose constructor traps while its thread holds the loader's lock, which recording
 * needs, too: -DLIBRARY is that library. */
#if defined(LIBRARY)
volatile double zero, made;
__attribute__((constructor)) static void construct(void) {
  for (int i = 0; i < 3; ++i) made = 1 / zero; /* x/0 */
  made = zero / zero;                          /* 0/0 */
}
#else
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  puts(argc > 1 && dlopen(argv[1], RTLD_NOW) != 0 ? "opened" : "missing");
  return 0;
}
#endif
