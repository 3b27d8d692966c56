// A program that knows of no rules: `ruled [end]`, where "kill" kills it, "nan" ends in one, and "many" in more outputs
// than are followed. Its units die in the third step.
#include <cmath>
#include <csignal>
#include <string>
#include <tuple>
#include <vector>

#include <nanlens/nanlens.hpp>

int main(int argc, char** argv) {
  const std::string end = argc > 1 ? argv[1] : "";
  for (int step = 0; step < 10; ++step) {
    nanlens::Function f("step", nanlens::arg("x", std::vector<float>{1, 2}));
    const std::vector<float> h = f.op("Relu", step < 3 ? std::vector<float>{1, 0} : std::vector<float>{0, 0});
    (void)f.result(f.op("Mean", h.front(), h));
    nanlens::op("Rate", std::vector<float>{1.0F / static_cast<float>(step + 1)});
  }
  if (end == "nan") nanlens::op("Log", std::log(-1.0F));
  for (int i = 0; end == "many" && i < 9000; ++i)
    nanlens::op({"Crowd", "n" + std::to_string(i)}, std::tuple(0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F));
  if (end == "kill") std::raise(SIGKILL);
}
