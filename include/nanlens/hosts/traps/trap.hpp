/// @file
/// One trapped exception, in plain memory: what a signal handler notes, and another thread records.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include <nanlens/hosts/traps/machine_state.hpp>
#include <nanlens/summary/bad_elements.hpp>

namespace nanlens::inline NANLENS_ABI::traps {

/// What went wrong, by IEEE 754 section 7.
enum class Kind : std::uint8_t {
  zero_by_zero,
  infinity_by_infinity,
  by_zero,
  zero_times_infinity,
  infinity_minus_infinity,
  negative_root,
  overflow,
  out_of_integers,
  comparison,
  signalling_nan,
  invalid,
};

constexpr const char* kind_words(Kind kind) noexcept {
  constexpr const char* words[] = {"0/0",
                                   "∞/∞",
                                   "x/0",
                                   "0·∞",
                                   "∞−∞",
                                   "root of a negative number",
                                   "overflow",
                                   "conversion beyond the integers",
                                   "comparison with NaN",
                                   "signalling NaN",
                                   "invalid operation"};
  return words[static_cast<int>(kind)];
}

inline constexpr std::size_t most_frames = 64;

struct Trap {
  Instruction instruction;
  Kind kind = Kind::invalid;
  std::uint32_t flags = 0;   ///< of MXCSR, raised by this instruction
  std::uint64_t hits = 0;    ///< how often it was trapped here, this time included
  double wall_time = 0;      ///< seconds since 1970
  std::uintptr_t place = 0;  ///< the instruction
  std::uint64_t key = 0;     ///< of the place, and the kind
  std::uint64_t thread = 0;  ///< the operating system's number
  unsigned char operands[3][vector_bytes] = {};
  bool operand_known[3] = {};
  bool denormals_are_zero = false;  ///< of MXCSR: so such operands are taken
  unsigned char result[vector_bytes] = {};
  bool has_result = false;
  bool taken_by_program = false;            ///< which traps it itself: there is no result
  std::uintptr_t frames[most_frames] = {};  ///< the instruction, then return addresses, innermost first
  std::uint32_t num_frames = 0;
  std::uint32_t python_stack = 0;  ///< of PythonStacks; 0: none
  std::uint64_t python_place = 0;  ///< differs where the stack does
};

constexpr DType dtype_of(Element element) noexcept {
  constexpr DType dtypes[] = {DType::float16, DType::float32, DType::float64, DType::int16, DType::int32,
                              DType::int64,   DType::uint16,  DType::uint32,  DType::uint64};
  return dtypes[static_cast<int>(element)];
}

namespace detail {

template <class T>
T bits_at(const unsigned char (&bytes)[vector_bytes], std::size_t lane) noexcept {
  T bits{};
  std::memcpy(&bits, bytes + lane * sizeof bits, sizeof bits);
  return bits;
}

/// Element `lane` of a floating operand, as a double. A signalling NaN becomes a quiet one on the way.
inline double element(const unsigned char (&bytes)[vector_bytes], Element type, std::size_t lane) noexcept {
  return element_value(dtype_of(type), bytes + lane * size_of(type));
}

inline bool is_signalling(const unsigned char (&bytes)[vector_bytes], Element type, std::size_t lane) noexcept {
  if (!std::isnan(element(bytes, type, lane))) return false;
  switch (type) {  // the bit that makes a NaN a quiet one
    case Element::float64: return (bits_at<std::uint64_t>(bytes, lane) >> 51 & 1) == 0;
    case Element::float32: return (bits_at<std::uint32_t>(bytes, lane) >> 22 & 1) == 0;
    default: return (bits_at<std::uint16_t>(bytes, lane) >> 9 & 1) == 0;
  }
}

/// What an instruction takes an operand for. With halves it keeps what is denormal.
inline double operand_value(const Trap& trap, std::size_t operand, std::size_t lane) noexcept {
  const Element type = trap.instruction.from;
  const double value = element(trap.operands[operand], type, lane);
  const double least = type == Element::float32   ? static_cast<double>(std::numeric_limits<float>::min())
                       : type == Element::float64 ? std::numeric_limits<double>::min()
                                                  : 0;
  return trap.denormals_are_zero && std::fabs(value) < least ? 0 : value;
}

inline bool are_opposite_infinities(double a, double b) noexcept {
  return std::isinf(a) && std::isinf(b) && std::signbit(a) != std::signbit(b);
}

inline bool is_zero_times_infinity(double a, double b) noexcept {
  return (a == 0 && std::isinf(b)) || (std::isinf(a) && b == 0);
}

/// Is an infinite ±a·b the opposite of ±c?
inline bool is_fused_difference(const FusedSigns& signs, std::size_t lane, double a, double b, double c) noexcept {
  if ((!std::isinf(a) && !std::isinf(b)) || std::isnan(a) || std::isnan(b)) return false;
  const bool negated = (lane & 1) == 0 ? signs.minus_even : signs.minus_odd;
  const bool product_is_negative = (std::signbit(a) != std::signbit(b)) != signs.minus_product;
  return std::isinf(c) && product_is_negative != (std::signbit(c) != negated);
}

/// What is invalid about one lane; `invalid` where nothing is, or it can't be told.
inline Kind invalid_in_lane(const Instruction& i, std::size_t lane, double a, double b, double c) noexcept {
  using enum Action;
  const auto if_so = [](bool holds, Kind kind) { return holds ? kind : Kind::invalid; };
  switch (i.action) {
    case divide:
      if (a == 0 && b == 0) return Kind::zero_by_zero;
      return if_so(std::isinf(a) && std::isinf(b), Kind::infinity_by_infinity);
    case add: return if_so(are_opposite_infinities(a, b), Kind::infinity_minus_infinity);
    case subtract: return if_so(are_opposite_infinities(a, -b), Kind::infinity_minus_infinity);
    case add_subtract:
      return if_so(are_opposite_infinities(a, (lane & 1) == 0 ? -b : b), Kind::infinity_minus_infinity);
    case multiply: return if_so(is_zero_times_infinity(a, b), Kind::zero_times_infinity);
    case fused:
      if (is_zero_times_infinity(a, b)) return Kind::zero_times_infinity;
      return if_so(is_fused_difference(i.signs, lane, a, b, c), Kind::infinity_minus_infinity);
    case square_root: return if_so(a < 0, Kind::negative_root);
    case to_integer: return Kind::out_of_integers;
    case compare:
    case extremum: return if_so(std::isnan(a) || std::isnan(b), Kind::comparison);
    default: return Kind::invalid;
  }
}

}  // namespace detail

/// What goes wrong in a function that is called is its argument, whatever it computes to raise the exception: 0/0, for
/// most. A fused instruction is what such a function is for.
constexpr Kind kind_of_call(Kind kind, Action action, std::string_view function) noexcept {
  if (action == Action::fused) return kind;
  switch (kind) {
    case Kind::zero_by_zero:
    case Kind::infinity_by_infinity:
    case Kind::zero_times_infinity:
    case Kind::infinity_minus_infinity:
    case Kind::negative_root: return function == "sqrt" || function == "sqrtf" ? Kind::negative_root : Kind::invalid;
    default: return kind;
  }
}

/// The kind of what raised these flags of MXCSR, by the first lane that can have done it. Of several kinds invalid
/// operations come first.
inline Kind kind_of(const Trap& trap, std::uint32_t flags, std::uint64_t active) noexcept {
  if ((flags & mxcsr_invalid) == 0 && (flags & mxcsr_divide_by_zero) != 0) return Kind::by_zero;
  if ((flags & mxcsr_invalid) == 0 && (flags & mxcsr_overflow) != 0) return Kind::overflow;
  const Instruction& i = trap.instruction;
  if (!is_floating(i.from)) return Kind::invalid;
  bool all_known = true;
  for (std::size_t lane = 0; lane < i.lanes; ++lane) {
    if ((active >> lane & 1) == 0) continue;
    double values[3] = {};
    const bool known = std::all_of(trap.operand_known, trap.operand_known + i.num_operands, [](bool k) { return k; });
    for (std::size_t k = 0; k < i.num_operands; ++k) {
      if (!trap.operand_known[k]) continue;
      if (detail::is_signalling(trap.operands[k], i.from, lane)) return Kind::signalling_nan;
      values[k] = detail::operand_value(trap, k, lane);
    }
    all_known = all_known && known;
    const Kind kind = known ? detail::invalid_in_lane(i, lane, values[0], values[1], values[2]) : Kind::invalid;
    if (kind != Kind::invalid) return kind;
  }
  return all_known && i.action == Action::horizontal ? Kind::infinity_minus_infinity : Kind::invalid;
}

/// Reads the operands, before the instruction runs.
inline void read_operands(const MachineState& state, Trap& trap) noexcept {
  const Instruction& i = trap.instruction;
  const std::size_t size = size_of(i.from);
  const std::uint64_t active = state.lanes_of_mask(i.mask);
  trap.denormals_are_zero = (state.mxcsr() & mxcsr_denormals_are_zero) != 0;
  for (std::size_t k = 0; k < i.num_operands; ++k) {
    const Operand& operand = i.operands[k];
    trap.operand_known[k] = true;
    if (!operand.is_memory) {
      state.vector_register(operand.number, trap.operands[k]);
      continue;
    }
    const auto* const at = reinterpret_cast<const unsigned char*>(state.address_of(i, trap.place));
    trap.operand_known[k] = at != nullptr;
    // What the mask leaves out need not be readable.
    for (std::size_t lane = 0; at != nullptr && lane < i.lanes; ++lane)
      if ((active >> lane & 1) != 0)
        std::memcpy(trap.operands[k] + lane * size, at + (operand.is_broadcast ? 0 : lane * size), size);
  }
}

/// Reads the result, once the instruction has run.
inline void read_result(const MachineState& state, Trap& trap) noexcept {
  const Instruction& i = trap.instruction;
  trap.has_result = i.lanes > 0 && i.target != Target::mask_or_flags;
  if (!trap.has_result) return;
  if (i.target == Target::vector_register) state.vector_register(i.destination, trap.result);
  if (i.target == Target::general_register) {
    const std::uintptr_t value = state.general_register(i.destination);
    std::memcpy(trap.result, &value, sizeof value);
  }
  if (i.target != Target::memory) return;
  const auto* const at = reinterpret_cast<const unsigned char*>(state.address_of(i, trap.place));
  trap.has_result = at != nullptr;
  const std::size_t size = size_of(i.to);
  const std::uint64_t active = state.lanes_of_mask(i.mask);
  for (std::size_t lane = 0; at != nullptr && lane < i.lanes; ++lane)
    if ((active >> lane & 1) != 0) std::memcpy(trap.result + lane * size, at + lane * size, size);
}

}  // namespace nanlens::inline NANLENS_ABI::traps
