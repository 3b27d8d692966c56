/* Opens program.c's main as a plugin, whose ONNX Runtime nobody else sees: loader PLUGIN MODEL INPUT… */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* const plugin = argc < 2 ? NULL : dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  int (*const run)(int, char**) = plugin == NULL ? NULL : (int (*)(int, char**))dlsym(plugin, "plugin_main");
  if (run == NULL) {
    fprintf(stderr, "loader: %s\n", dlerror());
    return 1;
  }
  return run(argc - 1, argv + 1);
}
