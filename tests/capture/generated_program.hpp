/// @file
/// Programs made at random, for trials: ops of which some are not wrapped, on tensors in an arena, in a buffer that
/// several share, and in memory that is freed after each step; parts of tensors are written in place. What each op did
/// is known.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <nanlens/nanlens.hpp>

namespace nanlens::test {

/// What ops on record did, by their names.
struct Deeds {
  std::set<std::string> made;      ///< gave NaN or ∞, somewhere, of what was clean there
  std::set<std::string> received;  ///< were given what was bad, and no op on record had written
  std::set<std::string> bad;       ///< gave NaN or ∞
};

class GeneratedProgram {
 public:
  explicit GeneratedProgram(unsigned seed) : numbers_(seed) {
    const double unwrapped = std::array{0.0, 0.2, 0.5}[seed % 3];
    for (int i = 0; i < num_data; ++i) tensors_.push_back({next_in_arena(length_), length_});
    for (int i = 0, n = 6 + below(12); i < n; ++i) add_op(i, unwrapped);
    first_in_function_ = below(2) == 0 ? ops_.size() : static_cast<std::size_t>(below(n_ops()));
  }

  /// Runs it, while recording is on.
  void run() {
    const int num_steps = 1 + below(3);
    const int faulty = below(num_steps);
    for (int step = 0; step < num_steps; ++step) {
      load(step == faulty);
      std::vector<std::vector<float>> freed_later(ops_.size());
      std::optional<Function> function;
      for (std::size_t i = 0; i < ops_.size(); ++i) {
        if (i == first_in_function_) function.emplace("part");
        Op& op = ops_[i];
        if (op.home == Home::fresh) {
          freed_later[i].resize(tensors_[op.result].size);
          tensors_[op.result].data = freed_later[i].data();
        }
        execute(op);
      }
      function.reset();
      for (const auto& memory : freed_later)
        for (const float& element : memory) by_recorded_.erase(&element);
      nanlens::step();
    }
  }
  [[nodiscard]] const Deeds& deeds() const noexcept { return deeds_; }

 private:
  enum class Kind { add, divide, log, root, exp, relu, mean, copy, scale, clip, concat, square, reciprocal, last };
  enum class Home { arena, shared, fresh, in_place };
  enum class How { record, scope, not_wrapped };
  struct Tensor {
    float* data;
    std::size_t size;
  };
  struct Op {
    Kind kind;
    How how;
    Home home;
    std::vector<std::size_t> inputs;  // tensors
    std::size_t begin;                // of the part of the first one
    std::size_t size;
    std::size_t result;
    std::string name;
  };
  static constexpr int num_data = 3;

  int below(int n) { return static_cast<int>(numbers_() % static_cast<unsigned>(n)); }
  [[nodiscard]] int n_ops() const { return static_cast<int>(ops_.size()); }
  float* next_in_arena(std::size_t size) {
    float* const at = arena_.data() + arena_end_;
    arena_end_ += size;
    return at;
  }
  static const char* type_of(Kind kind) {
    constexpr const char* types[] = {"Add",  "Div",   "Log",  "Sqrt",   "Exp",    "Relu",      "Mean",
                                     "Copy", "Scale", "Clip", "Concat", "Square", "Reciprocal"};
    return types[static_cast<std::size_t>(kind)];
  }
  static bool is_in_place(Kind kind) { return kind == Kind::scale || kind == Kind::clip; }
  static bool takes_two(Kind kind) { return kind == Kind::add || kind == Kind::divide || kind == Kind::concat; }

  // A tensor that may be read: of those in the shared buffer the last one alone. None if `size` is asked for in vain.
  std::optional<std::size_t> pick(std::size_t size) {
    for (int tries = 0; tries < 40; ++tries) {
      const int count = static_cast<int>(tensors_.size());
      const auto i = static_cast<std::size_t>(below(3) == 0 ? below(count) : count - 1 - below(std::min(5, count)));
      if (tensors_[i].data == shared_.data() && i != in_shared_) continue;
      if (size == 0 || tensors_[i].size == size) return i;
    }
    return std::nullopt;
  }

  void add_op(int number, double unwrapped) {
    const auto first = pick(0);
    if (!first) return;
    Op op{static_cast<Kind>(below(static_cast<int>(Kind::last))), How::record, Home::arena, {*first}, 0, 0, 0, {}};
    op.size = tensors_[*first].size;
    if (takes_two(op.kind)) {
      const auto second = pick(op.kind == Kind::concat ? 0 : op.size);
      if (!second) return;
      op.inputs.push_back(*second);
    } else if (op.size >= 8 && below(3) == 0) {
      op.size = op.size / 2;
      op.begin = static_cast<std::size_t>(below(static_cast<int>(op.size)));
    }
    if (below(1000) < 1000 * unwrapped)
      op.how = How::not_wrapped;
    else if (is_in_place(op.kind) || below(2) == 0)
      op.how = How::scope;
    std::size_t size = op.kind == Kind::mean ? 1 : op.size;
    if (op.kind == Kind::concat) size += tensors_[op.inputs[1]].size;
    if (size > 200) return;
    place(op, size);
    op.name = type_of(op.kind) + std::to_string(number);
    ops_.push_back(op);
  }

  void place(Op& op, std::size_t size) {
    if (is_in_place(op.kind)) {
      op.home = Home::in_place;
      op.result = op.inputs[0];
      return;
    }
    const bool reads_shared = std::find(op.inputs.begin(), op.inputs.end(), in_shared_) != op.inputs.end();
    op.home = static_cast<Home>(below(3));
    if (op.home == Home::shared && reads_shared) op.home = Home::arena;
    op.result = tensors_.size();
    if (op.home == Home::shared) in_shared_ = op.result;
    float* const there = op.home == Home::arena    ? next_in_arena(size)
                         : op.home == Home::shared ? shared_.data()
                                                   : nullptr;
    tensors_.push_back({there, size});
  }

  // What nobody recorded: clean, but for one element of the faulty step.
  void load(bool faulty) {
    for (std::size_t t = 0; t < num_data; ++t)
      for (std::size_t e = 0; e < tensors_[t].size; ++e) {
        tensors_[t].data[e] = 0.5F + static_cast<float>(below(1000)) / 1000;
        by_recorded_[tensors_[t].data + e] = false;
      }
    const Tensor& fault = tensors_[static_cast<std::size_t>(below(num_data))];
    constexpr float faults[] = {NAN, 0, -1, 1e30F, INFINITY};
    const float value = faults[below(5)];
    if (faulty) fault.data[below(static_cast<int>(fault.size))] = value;
  }

  static std::vector<float> result_of(Kind kind, std::span<const float> a, std::span<const float> b) {
    std::vector<float> y(a.begin(), a.end());
    if (kind == Kind::concat) y.insert(y.end(), b.begin(), b.end());
    if (kind == Kind::mean) {
      y.assign(1, 0);
      for (const float v : a) y[0] += v / static_cast<float>(a.size());
    }
    for (std::size_t i = 0; i < y.size(); ++i) switch (kind) {
        case Kind::add: y[i] += b[i]; break;
        case Kind::divide: y[i] /= b[i]; break;
        case Kind::log: y[i] = std::log(y[i]); break;
        case Kind::root: y[i] = std::sqrt(y[i]); break;
        case Kind::exp: y[i] = std::exp(y[i]); break;
        case Kind::relu: y[i] = y[i] > 0 ? y[i] : 0; break;
        case Kind::scale: y[i] *= 0.5F; break;
        case Kind::clip: y[i] = y[i] > 10 ? 10 : y[i] < -10 ? -10 : y[i]; break;
        case Kind::square: y[i] *= y[i]; break;
        case Kind::reciprocal: y[i] = 1 / y[i]; break;
        default: break;
      }
    return y;
  }

  void execute(const Op& op) {
    std::vector<std::span<float>> in{{tensors_[op.inputs[0]].data + op.begin, op.size}};
    if (op.inputs.size() > 1) in.emplace_back(tensors_[op.inputs[1]].data, tensors_[op.inputs[1]].size);
    const auto view = [](std::span<float> of) { return tensor_view(of.data(), {of.size()}); };
    std::vector<TensorView> inputs;
    for (const std::span<float> of : in) inputs.push_back(view(of));
    const OpName name{type_of(op.kind), op.name};
    std::optional<OpScope> scope;
    if (op.how == How::scope) scope.emplace(name, nanlens::inputs(inputs));
    const auto y = result_of(op.kind, in[0], in.size() > 1 ? in[1] : std::span<float>());
    const std::span<float> out =
        op.home == Home::in_place ? in[0] : std::span<float>(tensors_[op.result].data, tensors_[op.result].size);
    if (op.how != How::not_wrapped) note(op, in, y);
    std::copy(y.begin(), y.end(), out.begin());
    for (const float& element : out) by_recorded_[&element] = op.how != How::not_wrapped;
    if (scope) scope->finish(outputs(view(out)));
    if (op.how == How::record) record(name, outputs(view(out)), nanlens::inputs(inputs));
  }

  // Which elements of the inputs an element is made of: each of a mean, else those at its place.
  static bool is_made_of_bad(Kind kind, const std::vector<std::span<float>>& in, std::size_t place) {
    const auto is_bad = [](float v) { return !std::isfinite(v); };
    if (kind == Kind::mean) return std::any_of(in[0].begin(), in[0].end(), is_bad);
    if (kind == Kind::concat) return true;  // it only copies
    return std::any_of(in.begin(), in.end(), [&](std::span<float> of) { return is_bad(of[place]); });
  }

  void note(const Op& op, const std::vector<std::span<float>>& in, const std::vector<float>& y) {
    for (const std::span<float> of : in)
      for (const float& v : of)
        if (!std::isfinite(v) && !by_recorded_[&v]) deeds_.received.insert(op.name);
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (std::isfinite(y[i])) continue;
      deeds_.bad.insert(op.name);
      if (!is_made_of_bad(op.kind, in, i)) deeds_.made.insert(op.name);
    }
  }

  std::mt19937 numbers_;
  std::size_t length_ = 4 + numbers_() % 30;  // of each tensor of data
  std::vector<float> arena_ = std::vector<float>(20'000);
  std::size_t arena_end_ = 0;
  std::vector<float> shared_ = std::vector<float>(200);
  std::size_t in_shared_ = static_cast<std::size_t>(-1);  // the tensor that it holds
  std::vector<Tensor> tensors_;
  std::vector<Op> ops_;
  std::size_t first_in_function_ = 0;
  std::map<const float*, bool> by_recorded_;
  Deeds deeds_;
};

}  // namespace nanlens::test
