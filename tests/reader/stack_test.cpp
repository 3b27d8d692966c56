#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <nanlens/reader/stack.hpp>

using namespace nanlens;
using reader::StackFrame;

namespace {

StackFrame frame(std::string path, std::int32_t line) {
  StackFrame f;
  f.file_path = std::move(path);
  f.line = line;
  return f;
}

const std::string packages = "/venv/lib/python3.14/site-packages/";

}  // namespace

TEST_CASE("what a library did inside of the user's line, by its innermost line that is not of what is recorded") {
  const std::vector<StackFrame> stack{frame(packages + "runner/main.py", 1),
                                      frame("/home/me/train.py", 15),
                                      frame(packages + "transformers/trainer.py", 2330),
                                      frame("<frozen importlib>", 3),
                                      frame(packages + "transformers/models/t5.py", 283),
                                      frame(packages + "torch/nn/functional.py", 9)};
  CHECK(reader::user_frame(stack)->line == 15);
  CHECK(reader::package_frame(stack)->file_path == packages + "transformers/models/t5.py");
}

TEST_CASE("where the user's line is the innermost that is no framework's, there is none inside") {
  CHECK_FALSE(reader::package_frame({}));
  CHECK_FALSE(reader::package_frame({frame(packages + "runner/main.py", 1)}));
  CHECK_FALSE(reader::package_frame({frame(packages + "transformers/trainer.py", 2330), frame("/home/me/model.py", 8),
                                     frame(packages + "torch/nn/functional.py", 9),
                                     frame(packages + "tensorflow/python/ops.py", 2)}));
  CHECK_FALSE(reader::package_frame({frame("/home/me/model.py", 8), frame("/usr/include/c++/12/vector", 9)}));
  CHECK_FALSE(reader::package_frame({frame("/home/me/model.py", 8), frame(packages + "kernels/op.py", 0)}));
}
