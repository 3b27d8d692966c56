// A program of llama.cpp that decodes a few tokens: `decode MODEL`. It knows nothing of nanlens.
#include <cstdio>
#include <initializer_list>

#include <llama.h>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  llama_backend_init();
  llama_log_set(
      [](ggml_log_level level, const char* text, void*) {
        if (level >= GGML_LOG_LEVEL_ERROR && level < GGML_LOG_LEVEL_CONT) std::fputs(text, stderr);
      },
      nullptr);
  llama_model* model = llama_model_load_from_file(argv[1], llama_model_default_params());
  if (model == nullptr) return 1;
  llama_context_params parameters = llama_context_default_params();
  parameters.n_ctx = 64;
  parameters.n_threads = parameters.n_threads_batch = 1;
  llama_context* context = llama_init_from_model(model, parameters);
  if (context == nullptr) return 1;
  llama_token tokens[] = {1, 2, 3, 4};
  for (const int count : {4, 1, 1}) {
    const int status = llama_decode(context, llama_batch_get_one(tokens, count));
    std::printf("status %d, first logit %g\n", status, static_cast<double>(llama_get_logits_ith(context, -1)[0]));
  }
  llama_free(context);
  llama_model_free(model);
  llama_backend_free();
  return 0;
}
