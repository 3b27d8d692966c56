#include <doctest/doctest.h>

#include <string>
#include <utility>

#include <nanlens/causes/autograd_name.hpp>
#include <nanlens/causes/function_name.hpp>

TEST_CASE("a function's name without its arguments") {
  const std::pair<const char*, const char*> names[] = {
      {"flux", "flux"},
      {"flux(double, int)", "flux"},
      {"Grid::flux(double) const", "Grid::flux"},
      {"sum<(Kind)0>(float const*)", "sum<(Kind)0>"},
      {"apply<void (*)(int)>(int)", "apply<void (*)(int)>"},
      {"A::operator()(int) const", "A::operator()"},
      {"operator<<(Stream&, int)", "operator<<"},
      {"A::operator->() const", "A::operator->"},
      {"operator+(A, A)", "operator+"},
      {"main(int, char**)::{lambda(int)#1}::operator()(int) const", "main"},
      {"<(f64, f64) as solver::Step>::run", "<(f64, f64) as solver::Step>::run"},
      {"solver::map::<fn(f64) -> f64, (u8, u8)>::{closure#0}", "solver::map::<fn(f64) -> f64, (u8, u8)>::{closure#0}"},
      {"Model.entropy.<locals>.<listcomp>", "Model.entropy.<locals>.<listcomp>"},
      {"operator", "operator"},
      {"", ""}};
  for (const auto& [function, name] : names) CHECK(nanlens::causes::without_arguments(function) == name);
}

TEST_CASE("a node of PyTorch's backward pass belongs to the op that it is named after") {
  using nanlens::causes::is_node_of;
  CHECK(is_node_of("Log10Backward0", "aten::log10"));
  CHECK(is_node_of("Log1PBackward0 of net.head", "aten::log1p"));
  CHECK(is_node_of("LogBackward0", "aten::log_"));
  CHECK(is_node_of("NllLoss2DBackward0", "aten::nll_loss2d_forward"));
  CHECK(!is_node_of("NllLoss2DBackward0", "aten::nll_loss_forward"));
  CHECK(!is_node_of("Log10Backward0", "aten::log"));
  CHECK(!is_node_of("Log2BackwardAux", "aten::log2"));
  CHECK(!is_node_of("log10", "aten::log10"));
  CHECK(!is_node_of("", "aten::log10"));
}
