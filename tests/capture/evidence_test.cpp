// What is taken from memory when an op has given a NaN or infinity.
#include <doctest/doctest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <tuple>
#include <utility>
#include <vector>

#include <nanlens/capture/evidence.hpp>
#include <nanlens/reader/stored_tensor.hpp>

#include "recorded.hpp"

using namespace nanlens;
using logdir::TensorEvidence;
using logdir::TensorOrigin;
using test::Recorded;
using Counts = std::vector<std::uint64_t>;
using Indices = std::vector<std::int64_t>;
using Vector = std::vector<float>;

namespace {

constexpr float inf = INFINITY;

std::uint64_t bad_of(const TensorEvidence& e) { return e.counts[0] + e.counts[1] + e.counts[2]; }

}  // namespace

TEST_CASE("an op with a clean result leaves no evidence") {
  const Recorded run([] {
    const Vector x{1, NAN};
    nanlens::op("Relu", Vector{1, 0}, x);
    Function f("f", arg("x", Vector{1}));
    f.result(f.op("Neg", Vector{-1}, Vector{1}));
  });
  for (std::size_t i = 0; i < run->num_executions(); ++i) {
    CHECK(run->execution(i)->extension.input_evidence.empty());
    CHECK(run->execution(i)->extension.output_evidence.empty());
  }
  for (std::size_t i = 0; i < run->num_traces(); ++i) CHECK(run->trace(i)->extension.output_evidence.empty());
}

TEST_CASE("health of inputs when the op ran, places of bad elements, and slices") {
  const Recorded run([] {
    Vector x(12, 1.0F);
    const std::vector<int> labels{1, 2, 3};
    x[5] = 0;
    x[10] = -1;
    Vector y(12, 0.0F);
    y[5] = -inf;
    y[10] = NAN;
    auto view = tensor_view(y.data(), {4, 3});
    nanlens::record("Log", nanlens::outputs(view), nanlens::inputs(tensor_view(x.data(), {4, 3}), labels));
  });
  const auto extension = run->execution(0)->extension;
  REQUIRE(extension.output_evidence.size() == 1);
  const TensorEvidence& out = extension.output_evidence[0];
  CHECK(out.shape == Indices{4, 3});
  CHECK(out.counts == Counts{1, 0, 1, 0, 10, 0});
  CHECK(out.positions == Indices{1, 2, 3, 1});
  CHECK(out.values[0] == -INFINITY);
  REQUIRE(out.axes.size() == 2);
  CHECK(out.axes[0].affected == 2);
  CHECK(out.axes[0].slices == Indices{1, 3});
  CHECK(out.axes[1].slices == Indices{1, 2});
  REQUIRE(extension.input_evidence.size() == 2);
  const TensorEvidence& in = extension.input_evidence[0];
  CHECK(in.origin == TensorOrigin::not_recorded);
  CHECK(in.looked_at);
  CHECK(in.counts == Counts{0, 0, 0, 1, 1, 10});
  CHECK(in.positions == out.positions);  // of the same shape: the elements at fault
  CHECK(in.values == std::vector<double>{0, -1});
  CHECK(in.axes.empty());
  CHECK(extension.input_evidence[1].dtype == static_cast<int>(DType::int32));
  CHECK(extension.input_evidence[1].counts.empty());
}

TEST_CASE("bad inputs with the same values are known as such, whatever their address and shape") {
  const auto hash_of = [](const Vector& x, Shape shape = {}) {
    const Recorded run([&] {
      const Shape whole{static_cast<std::int64_t>(x.size())};
      nanlens::op("Neg", Vector{NAN}, tensor_view(x.data(), shape.empty() ? whole : shape));
    });
    return run->execution(0)->extension.input_evidence.at(0).values_hash;
  };
  Vector x(3000, 0.0F);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
  CHECK(hash_of(x) == 0);  // nothing is bad
  x[100] = NAN;
  const std::uint64_t hash = hash_of(x);
  CHECK(hash != 0);
  CHECK(hash_of(Vector(x)) == hash);
  CHECK(hash_of(x, {30, 100}) == hash);
  Vector elsewhere = x;
  std::swap(elsewhere[100], elsewhere[101]);
  CHECK(hash_of(elsewhere) != hash);
  CHECK(hash_of(Vector(3000, NAN)) == 0);
  Vector mask(3000, 0.0F);
  mask[7] = -inf;
  CHECK(hash_of(mask) == 0);
}

TEST_CASE("inputs that the op has written over are no evidence; those that were changed before are") {
  const Recorded run([] {
    Vector w{1, 2};
    Vector x{3, 4};
    nanlens::op("Init", w);
    nanlens::op("Load", x);
    x = {NAN, 4};
    w = {NAN, NAN};
    nanlens::record("Update", nanlens::outputs(w), nanlens::inputs(w, x));
  });
  const auto evidence = run->execution(2)->extension.input_evidence;
  REQUIRE(evidence.size() == 2);
  CHECK_FALSE(evidence[0].looked_at);
  CHECK(evidence[0].origin == TensorOrigin::recorded);
  CHECK(evidence[1].origin == TensorOrigin::changed);
  CHECK(evidence[1].recorded_id == run->execution(1)->event.output_tensor_ids[0] + 1);
  CHECK(evidence[1].counts == Counts{0, 0, 1, 0, 0, 1});
  CHECK(evidence[1].positions == Indices{0});
}

TEST_CASE("what an op wrote over before anybody looked is told from what can't be read") {
  const Recorded run([] {
    Vector w{1, 2};
    nanlens::forget(w.data(), w.size() * sizeof(float));  // an earlier test may have recorded there
    const TensorView far{nullptr, DType::float32, {2}, {}, "/device:GPU:0"};
    w = {NAN, NAN};
    nanlens::record("Update", nanlens::outputs(w), nanlens::inputs(w, far));
  });
  const auto evidence = run->execution(0)->extension.input_evidence;
  REQUIRE(evidence.size() == 2);
  CHECK(evidence[0].written_over);
  CHECK_FALSE(evidence[0].looked_at);
  CHECK_FALSE(evidence[1].written_over);
  CHECK_FALSE(evidence[1].looked_at);
}

TEST_CASE("one element that was changed between the words that are compared: a scope sees it") {
  for (const std::size_t size : {std::size_t{1'000}, std::size_t{100'000}}) {
    CAPTURE(size);
    const Recorded run([&] {
      Vector a(size, 1.0F);
      Vector b(size, 2.0F);
      nanlens::op("Load", a);  // 0
      nanlens::op("Load", b);  // 1
      a[777] = b[777] = NAN;   // not wrapped
      Vector y(size, 0.0F);
      OpScope copy("Copy", nanlens::inputs(a));
      y = a;
      copy.finish(nanlens::outputs(y));  // 2
      OpScope update("Update", nanlens::inputs(b));
      for (float& v : b) v *= 2;
      update.finish(nanlens::outputs(b));  // 3
    });
    const auto copied = run->execution(2)->extension.input_evidence.at(0);
    CHECK(copied.counts == Counts{0, 0, 1, 0, 0, size - 1});
    CHECK(copied.positions == Indices{777});
    const auto updated = run->execution(3)->extension.input_evidence.at(0);
    const bool small = size * sizeof(float) <= 65'536;  // of what is larger, the words alone were compared
    CHECK(updated.looked_at == small);
    CHECK(updated.written_over == !small);
    if (small) CHECK(updated.counts == Counts{0, 0, 1, 0, 0, size - 1});
  }
}

TEST_CASE("a scope over what several ops made, each a part: the one that made the bad part is known") {
  const Recorded run([] {
    Vector x(64, 1.0F);
    nanlens::op("Load", x);  // 0
    const auto half = tensor_view(x.data() + 32, {32});
    x[40] = NAN;
    nanlens::record("Half", nanlens::outputs(half));  // 1
    OpScope scale("Scale", nanlens::inputs(x));
    for (float& v : x) v *= 2;
    scale.finish(nanlens::outputs(x));  // 2
  });
  const auto e = run->execution(2)->extension.input_evidence.at(0);
  CHECK(e.origin == TensorOrigin::holds);
  CHECK(e.recorded_id == run->execution(1)->event.output_tensor_ids[0] + 1);
  CHECK(e.counts == Counts{0, 0, 1, 0, 0, 63});
}

TEST_CASE("what is left of a tensor of which another op has written a part made what is bad there") {
  for (const bool changed : {false, true}) {
    CAPTURE(changed);
    const Recorded run([&] {
      Vector x(64, 1.0F);
      x[40] = NAN;
      nanlens::op("Load", x);  // 0
      x[0] = 2;
      nanlens::record("Half", nanlens::outputs(tensor_view(x.data(), {32})));  // 1
      if (changed) x[63] = 3;
      OpScope sum("Sum", nanlens::inputs(x));
      Vector y{NAN};
      sum.finish(nanlens::outputs(y));  // 2
    });
    const auto e = run->execution(2)->extension.input_evidence.at(0);
    CHECK(e.origin == (changed ? TensorOrigin::not_recorded : TensorOrigin::holds));
    CHECK(e.recorded_id == (changed ? 0 : run->execution(0)->event.output_tensor_ids[0] + 1));
  }
}

TEST_CASE("the memory of a scope's input may be gone, whole or in part, or be another's") {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto evidence = [&](auto end) {
    void* const memory = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    auto* const x = static_cast<float*>(memory);
    const auto n = static_cast<std::int64_t>(2 * page / sizeof(float));
    for (std::int64_t i = 0; i < n; ++i) x[i] = static_cast<float>(i);
    x[777] = NAN;
    const Recorded run([&] {
      const TensorView view = tensor_view(x, {n});
      nanlens::forget(x, 2 * page);
      OpScope sum("Sum", nanlens::inputs(view));
      end(x);
      Vector y{NAN};
      sum.finish(nanlens::outputs(y));
    });
    ::munmap(memory, 2 * page);
    return run->execution(0)->extension.input_evidence.at(0);
  };
  const Counts as_it_began{0, 0, 1, 0, 1, 2 * page / sizeof(float) - 2};
  CHECK(evidence([](float*) {}).positions == Indices{777});
  for (const std::size_t gone : {page, 2 * page}) {
    const TensorEvidence e = evidence([&](float* x) { ::munmap(reinterpret_cast<char*>(x) + 2 * page - gone, gone); });
    CHECK(e.counts == as_it_began);
    CHECK(e.positions.empty());
  }
  const TensorEvidence reused = evidence([&](float* x) { std::fill(x, x + 2 * page / sizeof(float), 1.0F); });
  CHECK(reused.counts == as_it_began);
  CHECK(reused.positions.empty());
}

TEST_CASE("in every mode that sees a NaN, and in functions, where an event has one output") {
  for (const auto mode :
       {TensorDebugMode::curt_health, TensorDebugMode::concise_health, TensorDebugMode::full_tensor}) {
    const Recorded run([] { nanlens::op("Log", Vector{-inf, 0}, Vector{0, 1}); },
                       [&](DumpOptions& o) { o.tensor_debug_mode = mode; });
    REQUIRE(run->execution(0)->extension.input_evidence.size() == 1);
    CHECK(run->execution(0)->extension.input_evidence[0].counts == Counts{0, 0, 0, 0, 1, 1});
  }
  const Recorded run([] {
    Function f("f");
    const Vector x{2, 1};
    nanlens::op("Split", std::tuple(Vector{1}, Vector{NAN, 1}), x);
  });
  CHECK(run->trace(0)->extension.output_evidence.empty());
  const auto second = run->trace(1)->extension;
  REQUIRE(second.output_evidence.size() == 1);
  CHECK(second.output_evidence[0].positions == Indices{0});
  REQUIRE(second.input_evidence.size() == 1);
  CHECK(second.input_evidence[0].counts == Counts{0, 0, 0, 0, 0, 2});
  const Recorded off([] { nanlens::op("Log", Vector{NAN}); }, [](DumpOptions& o) { o.extension = false; });
  CHECK(off->execution(0)->extension.output_evidence.empty());
}

TEST_CASE("CURT_HEALTH: which kinds of values are bad is known of what nanlens saw; the summary stays what it is") {
  const Recorded run(
      [] {
        const Vector x{2, 1};
        nanlens::op("Split", std::tuple(Vector{NAN, 1}, Vector{1}, Vector{-inf, -inf}), x);
        nanlens::op("Square", Vector{inf, 1}, x);
        Function f("f");
        nanlens::op("Split", std::tuple(Vector{1}, Vector{inf, NAN}), x);
      },
      [](DumpOptions& o) { o.tensor_debug_mode = TensorDebugMode::curt_health; });
  using namespace reader;
  CHECK((run->execution_flags(0) & bad_flags) == (nan_flag | neg_inf_flag));
  CHECK((run->execution_flags(1) & bad_flags) == pos_inf_flag);
  ExecutionLinks links;
  REQUIRE(run->execution_links(0, links));
  REQUIRE(links.outputs.size() == 3);
  CHECK(links.outputs[0].flags == (has_summary_flag | nan_flag));
  CHECK(links.outputs[1].flags == has_summary_flag);
  CHECK(links.outputs[2].flags == (has_summary_flag | neg_inf_flag));
  CHECK(links.outputs[2].num_neg_inf < 0);
  CHECK((run->trace_flags(0) & bad_flags) == 0);
  CHECK((run->trace_flags(1) & bad_flags) == (nan_flag | pos_inf_flag));
  CHECK(run->trace_digest(1)->health.num_nan < 0);
}

TEST_CASE("values of the first bad event of each op and place are stored in full, within the budget") {
  const auto body = [] {
    const Vector x{0, 1, 4};
    const std::vector<std::int64_t> labels{7, 8};
    for (int i = 0; i < 3; ++i) nanlens::op("Log", Vector{-inf, 0, 1}, x, labels);
    nanlens::op("Log", Vector{-inf, 0, 1}, x, labels);  // another place
    for (int call = 0; call < 2; ++call) {
      Function f("f");
      f.op("Sqrt", Vector{NAN}, Vector{-1});
    }
  };
  const auto stored = [](const std::vector<TensorEvidence>& list, std::size_t i) { return list.at(i).content.size(); };
  const Recorded run(body);
  const auto first = run->execution(0)->extension;
  CHECK(stored(first.input_evidence, 0) == 12);
  CHECK(stored(first.input_evidence, 1) == 16);
  CHECK(stored(first.output_evidence, 0) == 12);
  CHECK(stored(run->execution(1)->extension.output_evidence, 0) == 0);
  CHECK(stored(run->execution(3)->extension.output_evidence, 0) == 12);
  CHECK(stored(run->trace(0)->extension.input_evidence, 0) == 4);
  CHECK(stored(run->trace(1)->extension.input_evidence, 0) == 0);
  const auto values = reader::stored_tensor(first.output_evidence[0]);
  REQUIRE(values.has_value());
  CHECK(full_health(values->view()) == HealthCounts{1, 0, 0, 0, 1, 1});
  const Recorded little(body, [](DumpOptions& o) { o.value_budget = 30; });
  CHECK(stored(little->execution(0)->extension.input_evidence, 1) == 16);
  CHECK(stored(little->execution(0)->extension.output_evidence, 0) == 0);
  const Recorded none(body, [](DumpOptions& o) { o.value_budget = 0; });
  CHECK(stored(none->execution(0)->extension.input_evidence, 0) == 0);
}

TEST_CASE("values that FULL_TENSOR recorded, in every encoding of a TensorProto") {
  const Recorded run(
      [] {
        nanlens::op("A", std::vector<double>{1.5});
        nanlens::op("B", Vector{1, 2});
        nanlens::op("C", std::vector<std::int16_t>{-3});
        nanlens::op("D", std::vector<std::complex<float>>{{1, 2}});
      },
      [](DumpOptions& o) { o.tensor_debug_mode = TensorDebugMode::full_tensor; });
  const auto bytes = [&](std::size_t i) {
    const auto stored = reader::stored_tensor(run->execution(i)->event.tensor_protos[0]);
    return stored ? stored->content : std::string("nothing");
  };
  const auto same = [](const std::string& text, const auto& value) {
    return text == std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  CHECK(same(bytes(0), 1.5));
  CHECK(same(bytes(1), std::array{1.0F, 2.0F}));
  CHECK(same(bytes(2), std::int16_t{-3}));
  CHECK(same(bytes(3), std::complex<float>(1, 2)));
  logdir::TensorProto repeated;
  repeated.dtype = static_cast<std::int32_t>(DType::int32);
  repeated.shape.emplace().dims.push_back({3, ""});
  repeated.int_val = {5};
  CHECK(reader::stored_tensor(repeated)->content.size() == 12);
  repeated.tensor_content = "short";
  CHECK_FALSE(reader::stored_tensor(repeated).has_value());
}

TEST_CASE("any layout, any dtype: the places are those of plain loops") {
  Vector m(6 * 5 * 4, 1.0F);
  for (const std::size_t i : {7U, 50U, 51U, 119U}) m[i] = i % 2 == 0 ? NAN : inf;
  const TensorView views[] = {tensor_view(m.data(), {6, 5, 4}), tensor_view(m.data(), {120}),
                              TensorView{m.data(), DType::float32, {4, 5, 6}, {1, 4, 20}, cpu_device},
                              TensorView{m.data() + 119, DType::float32, {120}, {-1}, cpu_device},
                              TensorView{m.data() + 7, DType::float32, {3, 2}, {0, 1}, cpu_device}};
  for (const TensorView& view : views) {
    Indices expected;
    const auto n = num_elements(view.shape);
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t rest = i;
      std::int64_t at = 0;
      Indices index(view.shape.size());
      for (std::size_t d = view.shape.size(); d-- > 0; rest /= view.shape[d]) {
        index[d] = rest % view.shape[d];
        at += index[d] * view.strides[d];
      }
      if (!std::isfinite(static_cast<const float*>(view.data)[at]))
        expected.insert(expected.end(), index.begin(), index.end());
    }
    std::uint64_t bad = 0;
    const TensorEvidence e = detail::look_at(view, bad);
    CHECK(e.positions == expected);
    CHECK(bad == expected.size() / view.shape.size());
    CHECK(bad_of(e) == bad);
  }
  std::uint64_t bad = 0;
  const std::vector<double> all(40, NAN);
  const auto e = detail::look_at(tensor_view(all.data(), {20, 2}), bad);
  CHECK(e.positions.size() == 32);
  CHECK(Indices(e.positions.begin() + 30, e.positions.end()) == Indices{7, 1});
  CHECK(e.axes[0].affected == 20);
  CHECK(e.axes[0].slices.size() == 16);
  const double scalar = inf;
  CHECK(detail::look_at(view_of(scalar), bad).values == std::vector<double>{INFINITY});
  const std::uint16_t half[] = {0x3c00, 0x7e00, 0xfc00};
  const auto h = detail::look_at(dense_view(half, DType::float16, {3}), bad);
  CHECK(h.positions == Indices{1, 2});
  CHECK(h.values[1] == -INFINITY);
  const std::complex<float> z[] = {{1, 2}, {1, NAN}};
  CHECK(detail::look_at(view_of(z), bad).positions == Indices{1});
}
