// Gradients that TensorFlow calculates by ops of other types: which op they are the gradient of.
#include <doctest/doctest.h>

#include <memory>
#include <string>

#include <nanlens/reader/reader.hpp>

#include "../support/hostile_graphs.hpp"
#include "why_answer.hpp"

using namespace nanlens;
using test::LogdirWriter;

namespace {

// 1 / sqrt(1 − x²) at line 9, of an x that an op of `type` takes at line 5; `of_x`: is it the square of that x?
std::string inverse_root(const std::string& type, const std::string& scope, bool of_x = true) {
  LogdirWriter w;
  w.graph("g", "step", "root");
  w.line(5);
  w.op("g", "Placeholder", "x");
  w.op("g", "Cos", "y", {"x:0"});
  w.op("g", type, "function", {"x:0"});
  w.line(9);
  w.op("g", "Const", scope + "Const");
  w.op("g", "Square", scope + "Square", {of_x ? "x:0" : "y:0"});
  w.op("g", "Sub", scope + "Sub", {scope + "Const:0", scope + "Square:0"});
  w.op("g", "Sqrt", scope + "Sqrt", {scope + "Sub:0"});
  w.op("g", "Reciprocal", scope + "Reciprocal", {scope + "Sqrt:0"});
  w.row("g", scope + "Sqrt", {0, 0, 40, 60});
  w.row("g", scope + "Reciprocal", {40, 0, 0, 60});
  w.execution("__inference_step_1", {}, {1}, false);
  reader::Logdir logdir(std::make_unique<test::CountingStorage>(w.take()));
  logdir.update();
  return test::ask(*logdir.runs().at(0)).text;
}

bool names_line_5(const std::string& text) { return text.find("[gradient of model.py:5]") != text.npos; }

}  // namespace

TEST_CASE("the gradient of an inverse cosine or sine is told with the line of that") {
  CHECK(names_line_5(inverse_root("Acos", "gradient_tape/")));
  CHECK(names_line_5(inverse_root("Asin", "gradient_tape/loss/")));
}

TEST_CASE("a reciprocal root of another function, of another tensor, or of the program itself is no such gradient") {
  CHECK(!names_line_5(inverse_root("Tanh", "gradient_tape/")));
  CHECK(!names_line_5(inverse_root("Acos", "gradient_tape/", false)));
  CHECK(!names_line_5(inverse_root("Acos", "norm/")));
}

TEST_CASE("that of an inverse hyperbolic cosine divides by the hyperbolic sine of its result") {
  LogdirWriter w;
  w.graph("g", "step", "root");
  w.line(5);
  w.op("g", "Placeholder", "x");
  w.op("g", "Acosh", "function", {"x:0"});
  w.line(9);
  w.op("g", "Sinh", "gradient_tape/Sinh", {"function:0"});
  w.op("g", "RealDiv", "gradient_tape/truediv", {"x:0", "gradient_tape/Sinh:0"});
  w.row("g", "x", {0, 0, 0, 100});
  w.row("g", "gradient_tape/Sinh", {0, 0, 40, 60});
  w.row("g", "gradient_tape/truediv", {40, 0, 0, 60});
  w.execution("__inference_step_1", {}, {1}, false);
  reader::Logdir logdir(std::make_unique<test::CountingStorage>(w.take()));
  logdir.update();
  CHECK(names_line_5(test::ask(*logdir.runs().at(0)).text));
}
