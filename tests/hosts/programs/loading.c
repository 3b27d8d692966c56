/* A host library, one whose constructor opens it, an adapter, and a program: each by its macro. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#if defined(HOST)
int tiny(void) { return 42; }

#elif defined(OPENER)
static void* opened;
__attribute__((constructor)) static void open_tiny(void) { opened = dlopen("libtiny.so.1", RTLD_NOW); }
int is_open(void) { return opened != NULL; }

#elif defined(ADAPTER)
__attribute__((constructor)) static void loaded(void) {
  const int* const in_main = dlsym(RTLD_DEFAULT, "in_main");
  fprintf(stderr, "adapter %s\n", in_main != NULL && *in_main >= 0 ? "in main" : "too early");
}

#elif defined(LINKED)
int tiny(void);
int in_main = 0;
int main(int argc, char** argv) { printf("%s %d\n", argv[argc - 1], tiny()); }

#else
int in_main = -1;

static void* open_as(const char* what) {
  if (strcmp(what, "path") == 0) {
    char path[4096];
    Dl_info info;
    dladdr(&in_main, &info);
    snprintf(path, sizeof path, "%s", info.dli_fname);
    strcpy(strrchr(path, '/'), "/libraries/libtiny.so.1");
    return dlopen(path, RTLD_NOW);
  }
  if (strcmp(what, "origin") == 0) return dlopen("$ORIGIN/libraries/libtiny.so.1", RTLD_NOW);
  if (strcmp(what, "constructor") == 0) return dlopen("libopener.so", RTLD_NOW);
  return dlopen(strcmp(what, "missing") == 0 ? "libmissing.so" : "libtiny.so.1", RTLD_NOW);
}

int main(int argc, char** argv) {
  in_main = 1;
  const char* const what = argc > 1 ? argv[1] : "search";
  void* const opened = open_as(what);
  const char* const error = dlerror();
  int (*const tiny)(void) = opened == NULL ? NULL : (int (*)(void))dlsym(opened, "tiny");
  printf("%s %d %s\n", what, tiny == NULL ? 0 : tiny(), error == NULL ? "" : error);
  return opened == NULL;
}
#endif
