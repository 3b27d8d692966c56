// What an instruction's operands tell of an exception.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>

#include <nanlens/hosts/traps/trap.hpp>

namespace traps = nanlens::traps;
using traps::Kind;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

// A packed instruction on doubles, with its operands lane by lane.
traps::Trap packed(traps::Action action, std::initializer_list<std::initializer_list<double>> operands) {
  traps::Trap trap;
  trap.instruction.action = action;
  trap.instruction.is_packed = true;
  for (const auto& operand : operands) {
    const std::size_t k = trap.instruction.num_operands++;
    trap.instruction.lanes = static_cast<std::uint8_t>(operand.size());
    trap.operand_known[k] = true;
    std::memcpy(trap.operands[k], operand.begin(), operand.size() * sizeof(double));
  }
  return trap;
}

traps::Trap fused(traps::FusedSigns signs, std::initializer_list<std::initializer_list<double>> operands) {
  traps::Trap trap = packed(traps::Action::fused, operands);
  trap.instruction.signs = signs;
  return trap;
}

Kind invalid(const traps::Trap& trap) { return kind_of(trap, traps::mxcsr_invalid, ~std::uint64_t{0}); }

// One lane of halves.
traps::Trap halves(traps::Action action, std::uint16_t a, std::uint16_t b) {
  traps::Trap trap = packed(action, {{0}, {0}});
  trap.instruction.from = traps::Element::float16;
  std::memcpy(trap.operands[0], &a, sizeof a);
  std::memcpy(trap.operands[1], &b, sizeof b);
  return trap;
}

}  // namespace

TEST_CASE("the lane that is at fault tells the kind") {
  using enum traps::Action;
  CHECK(invalid(packed(divide, {{1, 0}, {2, 0}})) == Kind::zero_by_zero);
  CHECK(invalid(packed(divide, {{1, -inf}, {0, inf}})) == Kind::infinity_by_infinity);
  CHECK(invalid(packed(add, {{inf, inf}, {inf, -inf}})) == Kind::infinity_minus_infinity);
  CHECK(invalid(packed(add, {{inf}, {inf}})) == Kind::invalid);  // nothing is wrong about it
  CHECK(invalid(packed(subtract, {{inf}, {inf}})) == Kind::infinity_minus_infinity);
  CHECK(invalid(packed(add_subtract, {{1, inf}, {1, -inf}})) == Kind::infinity_minus_infinity);
  CHECK(invalid(packed(add_subtract, {{inf, 1}, {-inf, 1}})) == Kind::invalid);
  CHECK(invalid(packed(horizontal, {{inf, -inf}, {1, 1}})) == Kind::infinity_minus_infinity);
  CHECK(invalid(packed(square_root, {{4, -4}})) == Kind::negative_root);
  CHECK(kind_of(packed(divide, {{0, 1}, {0, 0}}), traps::mxcsr_divide_by_zero, 2) == Kind::by_zero);
}

TEST_CASE("fused instructions are taken with their signs") {
  CHECK(invalid(fused({}, {{inf, 0}, {1, inf}, {inf, 1}})) == Kind::zero_times_infinity);
  CHECK(invalid(fused({}, {{inf}, {-1}, {inf}})) == Kind::infinity_minus_infinity);
  CHECK(invalid(fused({true, false, false}, {{inf}, {1}, {inf}})) == Kind::infinity_minus_infinity);
  CHECK(invalid(fused({true, false, false}, {{inf}, {-1}, {inf}})) == Kind::invalid);
  CHECK(invalid(fused({false, true, true}, {{inf}, {1}, {inf}})) == Kind::infinity_minus_infinity);
  CHECK(invalid(fused({false, true, false}, {{1, inf}, {1, 1}, {1, -inf}})) == Kind::infinity_minus_infinity);
  CHECK(invalid(fused({false, true, false}, {{1, inf}, {1, 1}, {1, inf}})) == Kind::invalid);
}

TEST_CASE("denormal operands are zeros where the program has them be") {
  traps::Trap trap = packed(traps::Action::divide, {{1e-310}, {0}});
  CHECK(invalid(trap) == Kind::invalid);
  trap.denormals_are_zero = true;
  CHECK(invalid(trap) == Kind::zero_by_zero);
}

TEST_CASE("halves") {
  constexpr std::uint16_t infinity = 0x7C00;
  constexpr std::uint16_t signalling = 0x7C01;
  constexpr std::uint16_t quiet = 0x7E00;
  using enum traps::Action;
  CHECK(invalid(halves(divide, 0, 0x8000)) == Kind::zero_by_zero);
  CHECK(invalid(halves(divide, infinity, infinity)) == Kind::infinity_by_infinity);
  CHECK(invalid(halves(multiply, infinity, 0)) == Kind::zero_times_infinity);
  CHECK(invalid(halves(add, signalling, 0)) == Kind::signalling_nan);
  CHECK(invalid(halves(compare, quiet, 0)) == Kind::comparison);
  constexpr std::uint16_t denormal = 1;
  CHECK(invalid(halves(divide, denormal, 0)) == Kind::invalid);
  CHECK(invalid(halves(square_root, 0xC500, 0)) == Kind::negative_root);
}

TEST_CASE("of a function it is the argument that is wrong") {
  using enum traps::Action;
  CHECK(traps::kind_of_call(Kind::zero_by_zero, divide, "log") == Kind::invalid);
  CHECK(traps::kind_of_call(Kind::zero_by_zero, divide, "sqrtf") == Kind::negative_root);
  CHECK(traps::kind_of_call(Kind::negative_root, square_root, "sqrt") == Kind::negative_root);
  CHECK(traps::kind_of_call(Kind::negative_root, square_root, "acosh") == Kind::invalid);
  CHECK(traps::kind_of_call(Kind::by_zero, divide, "log") == Kind::by_zero);
  CHECK(traps::kind_of_call(Kind::zero_times_infinity, fused, "fma") == Kind::zero_times_infinity);
}
