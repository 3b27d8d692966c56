/* Brings a malloc that serves one thread, the first. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Alignas(16) char memory[1 << 20];
static size_t used;
volatile double zero, made;

void* malloc(size_t size) {
  char* const at = memory + used + 16;
  used += 16 + (size + 15) / 16 * 16;
  if (used > sizeof memory || syscall(SYS_gettid) != getpid()) __builtin_trap();
  memcpy(at - 16, &size, sizeof size);
  return at;
}
void free(void* at) { (void)at; }
void* calloc(size_t count, size_t size) { return malloc(count * size); } /* nothing is used twice: all is 0 */
void* realloc(void* at, size_t size) {
  void* const result = malloc(size);
  size_t before = 0;
  if (at != NULL) memcpy(&before, (char*)at - 16, sizeof before);
  if (at != NULL) memcpy(result, at, before < size ? before : size);
  return result;
}

int main(void) {
  made = zero / zero;
  puts(made != made ? "not a number" : "a number");
  return 3;
}
