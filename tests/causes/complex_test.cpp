// Bad tensors of complex numbers raise no alert, as in TensorFlow; a NaN that comes by them has its cause all the same.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include <nanlens/causes/sentence.hpp>

#include "../capture/recorded.hpp"
#include "../support/finish.hpp"

using namespace nanlens;
using test::Recorded;
using Vector = std::vector<float>;
using Complex = std::vector<std::complex<float>>;

namespace {

struct ComplexFound {
  std::string text;
  std::string remedy;
  std::vector<std::string> chain;
  std::size_t total = 0;
  std::size_t roots = 0;
  std::size_t removed = 0;
};

ComplexFound found_in(reader::Run& run) {
  causes::Causes causes(run);
  test::finish(causes, 1);
  ComplexFound found;
  found.total = causes.total();
  found.roots = causes.roots().size();
  found.removed = causes.killers().size();
  const auto headline = causes.headline();
  REQUIRE(headline);
  const auto s = causes::SentenceWriter(causes).sentence(*headline);
  found.text = s.text;
  found.remedy = s.remedy;
  for (const auto& link : causes.chain(causes.roots()[*headline].last)) {
    CHECK(link.change == causes::Mechanism::generic);
    found.chain.push_back(tensor_name(causes.model(), link.event));
  }
  return found;
}

}  // namespace

TEST_CASE("a NaN that goes through complex ops has one cause: what made it") {
  const Recorded recorded([] {
    const Vector x{0, 1};
    const Vector log = nanlens::op("Log", Vector{std::log(x[0]), 0}, x);
    Complex z = nanlens::op("Complex", Complex{{log[0], 0}, {log[1], 0}}, log);
    z = nanlens::op("FFT", Complex{{NAN, NAN}, {NAN, NAN}}, z);
    const Vector back = nanlens::op("Real", Vector{NAN, NAN}, z);
    nanlens::op("Sum", Vector{back[0] + back[1]}, back);
  });
  const ComplexFound found = found_in(*recorded);
  CHECK(found.text.find("Log") == 0);
  CHECK(found.chain == std::vector<std::string>{"Log:0", "Complex:0", "FFT:0", "Real:0", "Sum:0"});
  CHECK(found.total == 3);  // alerts are TensorFlow's
  CHECK(found.roots == 1);
  CHECK(found.removed == 0);
}

TEST_CASE("a complex op that made it is the cause; which kind is not known") {
  const Recorded recorded([] {
    const Complex zeros(2);
    const Complex z = nanlens::op("Div", Complex{{NAN, NAN}, {NAN, NAN}}, zeros, zeros);
    nanlens::op("Real", Vector{NAN, NAN}, z);
    nanlens::op("Imag", Vector{NAN, NAN}, z);
  });
  const ComplexFound found = found_in(*recorded);
  CHECK(found.text.find("Div") == 0);
  CHECK(found.text.find("made NaN or ∞ from clean inputs") != std::string::npos);
  CHECK(found.remedy.find("FULL_HEALTH") == std::string::npos);
  CHECK(found.total == 2);
  CHECK(found.roots == 1);
}
