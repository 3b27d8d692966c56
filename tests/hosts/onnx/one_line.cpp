// A program with the lines of nanlens/hosts/onnx.hpp: one_line MODEL. Its model has a float input "x" of three
// elements, and an output "y". ONNX Runtime's C API is called by number, as the program in C does.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <nanlens/hosts/onnx.hpp>

struct OrtSessionOptions;
struct OrtApiBase {
  void* const* (*get_api)(std::uint32_t version);
};
extern "C" const OrtApiBase* OrtGetApiBase();

namespace {

template <class... Arguments>
void call(std::size_t number, Arguments... arguments) {
  void* const* const api = OrtGetApiBase()->get_api(21);
  void* const status = reinterpret_cast<void* (*)(Arguments...)>(api[number])(arguments...);
  if (status == nullptr) return;
  std::fprintf(stderr, "one_line: %s\n", reinterpret_cast<const char* (*)(void*)>(api[2])(status));
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  void* environment = nullptr;
  OrtSessionOptions* options = nullptr;
  void* session = nullptr;
  call(3, 3, "one_line", &environment);
  call(10, &options);
  const nanlens::onnx::Probed model = nanlens::onnx::instrument(bytes, "model.onnx");
  if (!model.why_not.empty() || !nanlens::onnx::register_ops(options, OrtGetApiBase())) return 3;
  call(8, environment, static_cast<const void*>(model.bytes.data()), model.bytes.size(), options, &session);
  float values[] = {1, 2, 0.25F};
  const std::int64_t shape[] = {3};
  const char* const input_name = "x";
  const char* const output_name = "y";
  void* memory = nullptr;
  void* input = nullptr;
  void* output = nullptr;
  call(69, 1, 0, &memory);
  call(49, memory, static_cast<void*>(values), sizeof values, &shape[0], std::size_t{1}, 1, &input);
  call(9, session, nullptr, &input_name, &input, std::size_t{1}, &output_name, std::size_t{1}, &output);
  return 0;
}
