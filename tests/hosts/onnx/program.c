/* A program that runs a model with ONNX Runtime's C API, whose table it declares itself, and knows nothing of nanlens:
 * program MODEL INPUT OUTPUT RUNS THREADS HOW VALUES…: a float input of one dimension; HOW is file, or array (of
 * bytes). Every second run of a thread is given the values with the other sign. Prints the first element of the
 * output, and the number of the model's outputs. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct base {
  void* const* (*get_api)(uint32_t version);
  const char* (*version)(void);
};
const struct base* OrtGetApiBase(void);

static void* const* api;
static void* session;
static const char *input_name, *output_name;
static float values[64], others[64];
static int64_t size;
static int runs;

#define CALL(number, ...) ((void* (*)())api[number])(__VA_ARGS__)

static void check(void* status) {
  if (status == NULL) return;
  fprintf(stderr, "program: %s\n", (const char*)CALL(2, status));
  exit(1);
}

static void* run(void* first) {
  void *memory, *inputs[2];
  check(CALL(69, 1, 0, &memory));
  for (int i = 0; i < 2; ++i)
    check(CALL(49, memory, (void*)(i == 0 ? values : others), (size_t)size * sizeof(float), &size, (size_t)1, 1, &inputs[i]));
  for (int i = 0; i < runs; ++i) {
    void *output = NULL, *data;
    check(CALL(9, session, NULL, &input_name, &inputs[i % 2], (size_t)1, &output_name, (size_t)1, &output));
    check(CALL(51, output, &data));
    if (i == 0) *(float*)first = *(float*)data;
    CALL(96, output);
  }
  return NULL;
}

static void create_from_array(void* environment, const char* path, void* options) {
  static char bytes[1 << 20];
  FILE* const file = fopen(path, "rb");
  const size_t length = file == NULL ? 0 : fread(bytes, 1, sizeof bytes, file);
  if (file != NULL) fclose(file);
  check(CALL(8, environment, (void*)bytes, length, options, &session));
}

int main(int argc, char** argv) {
  void *environment, *options;
  pthread_t threads[16];
  float first = 0;
  size_t outputs = 0;
  if (argc < 8) return 2;
  api = OrtGetApiBase()->get_api(21);
  input_name = argv[2];
  output_name = argv[3];
  runs = atoi(argv[4]);
  const int num_threads = atoi(argv[5]);
  for (int i = 7; i < argc && size < 64; ++i) {
    others[size] = -(float)atof(argv[i]);
    values[size++] = (float)atof(argv[i]);
  }
  check(CALL(3, 3, "program", &environment));
  check(CALL(10, &options));
  if (strcmp(argv[6], "array") == 0)
    create_from_array(environment, argv[1], options);
  else
    check(CALL(7, environment, argv[1], options, &session));
  check(CALL(31, session, &outputs));
  for (int i = 0; i < num_threads && i < 16; ++i) pthread_create(&threads[i], NULL, run, &first);
  for (int i = 0; i < num_threads && i < 16; ++i) pthread_join(threads[i], NULL);
  printf("%g %zu\n", (double)first, outputs);
  CALL(95, session);
  CALL(100, options);
  CALL(92, environment);
  return 0;
}
