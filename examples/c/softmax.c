/* A loss in C that becomes infinite: softmax underflows, and the logarithm gets its zero. `softmax LOGDIR` */
#include <math.h>
#include <stdio.h>

#include <nanlens/c.h>

enum { classes = 3 };

static nanlens_tensor vector(const float* data, const int64_t* extent) {
  const nanlens_tensor tensor = {.data = data, .dtype = NANLENS_FLOAT32, .rank = 1, .shape = extent};
  return tensor;
}

static void record(const char* type, unsigned line, const nanlens_tensor* input, const nanlens_tensor* output) {
  const nanlens_op_info op = {.type = type,
                              .file = __FILE__,
                              .function = "main",
                              .line = line,
                              .inputs = input,
                              .num_inputs = input == NULL ? 0 : 1,
                              .outputs = output,
                              .num_outputs = 1};
  const char* const found = nanlens_op(&op);
  if (found != NULL) fprintf(stderr, "%s\n", found);
}

int main(int argc, char** argv) {
  const nanlens_options options = {.logdir = argc > 1 ? argv[1] : "softmax.log"};
  const char* const wrong = nanlens_open(&options);
  if (wrong != NULL) return fprintf(stderr, "%s\n", wrong), 1;

  const int64_t extent = classes;
  const float logits[classes] = {0, 10, 200};
  float probabilities[classes];
  float logarithms[classes];
  const nanlens_tensor x = vector(logits, &extent);
  const nanlens_tensor p = vector(probabilities, &extent);
  const nanlens_tensor l = vector(logarithms, &extent);
  record("Const", __LINE__, NULL, &x);

  const nanlens_op_info loss = {
      .type = "loss", .file = __FILE__, .function = "main", .line = __LINE__, .inputs = &x, .num_inputs = 1};
  const char* const names[] = {"logits"};
  nanlens_function* const function = nanlens_begin_function(&loss, names);
  float sum = 0;
  for (int i = 0; i < classes; ++i) sum += expf(logits[i] - 200);
  for (int i = 0; i < classes; ++i) probabilities[i] = expf(logits[i] - 200) / sum;
  record("Softmax", __LINE__, &x, &p);
  for (int i = 0; i < classes; ++i) logarithms[i] = logf(probabilities[i]);
  record("Log", __LINE__, &p, &l);
  nanlens_end_function(function, &l, 1);

  nanlens_close();
  return 0;
}
