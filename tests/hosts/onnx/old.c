/* What is no ONNX Runtime that nanlens can use: one without the version of the API that it needs. */
#include <stddef.h>
#include <stdint.h>

static void* const* get_api(uint32_t version) {
  static void* const table[1] = {NULL};
  return version > 2 ? NULL : table;
}
static const char* version(void) { return "1.2"; }

const void* OrtGetApiBase(void) {
  static const struct {
    void* const* (*get_api)(uint32_t version);
    const char* (*version)(void);
  } base = {get_api, version};
  return &base;
}
