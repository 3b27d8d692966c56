/// @file
/// One trapped exception, in plain memory: what a signal handler notes, and another thread records.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include <nanlens/hosts/traps/machine_state.hpp>

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
  unsigned char result[vector_bytes] = {};
  bool has_result = false;
  bool taken_by_program = false;            ///< which traps it itself: there is no result
  std::uintptr_t frames[most_frames] = {};  ///< the instruction, then return addresses, innermost first
  std::uint32_t num_frames = 0;
  std::uint32_t python_stack = 0;  ///< of PythonStacks; 0: none
  std::uint64_t python_place = 0;  ///< differs where the stack does
};

namespace detail {

/// Element `lane` of a floating operand, as a double. A signalling NaN becomes a quiet one on the way.
inline double element(const unsigned char (&bytes)[vector_bytes], Element type, std::size_t lane) noexcept {
  if (type == Element::float64) {
    double value = 0;
    std::memcpy(&value, bytes + lane * 8, sizeof value);
    return value;
  }
  float value = 0;
  std::memcpy(&value, bytes + lane * 4, sizeof value);
  return static_cast<double>(value);
}

inline bool is_signalling(const unsigned char (&bytes)[vector_bytes], Element type, std::size_t lane) noexcept {
  if (!std::isnan(element(bytes, type, lane))) return false;
  const std::size_t size = size_of(type);
  const unsigned char quiet_bit = type == Element::float64 ? 0x08 : 0x40;
  return (bytes[(lane + 1) * size - 2] & quiet_bit) == 0;
}

/// What is invalid about one lane; `invalid` where nothing is, or it can't be told.
inline Kind invalid_in_lane(Action action, double a, double b, double c) noexcept {
  using enum Action;
  switch (action) {
    case divide:
      if (a == 0 && b == 0) return Kind::zero_by_zero;
      return std::isinf(a) && std::isinf(b) ? Kind::infinity_by_infinity : Kind::invalid;
    case add:
    case subtract:
    case add_subtract: return std::isinf(a) && std::isinf(b) ? Kind::infinity_minus_infinity : Kind::invalid;
    case multiply:
    case fused:
      if ((a == 0 && std::isinf(b)) || (std::isinf(a) && b == 0)) return Kind::zero_times_infinity;
      return action == fused && std::isinf(c) && (std::isinf(a) || std::isinf(b)) ? Kind::infinity_minus_infinity
                                                                                  : Kind::invalid;
    case square_root: return a < 0 ? Kind::negative_root : Kind::invalid;
    case to_integer: return Kind::out_of_integers;
    case compare:
    case extremum: return std::isnan(a) || std::isnan(b) ? Kind::comparison : Kind::invalid;
    default: return Kind::invalid;
  }
}

}  // namespace detail

/// The kind of what raised these flags of MXCSR, by the first lane that can have done it. Of several kinds invalid
/// operations come first.
inline Kind kind_of(const Trap& trap, std::uint32_t flags, std::uint64_t active) noexcept {
  if ((flags & mxcsr_invalid) == 0 && (flags & mxcsr_divide_by_zero) != 0) return Kind::by_zero;
  if ((flags & mxcsr_invalid) == 0 && (flags & mxcsr_overflow) != 0) return Kind::overflow;
  const Instruction& i = trap.instruction;
  for (std::size_t lane = 0; lane < i.lanes; ++lane) {
    if ((active >> lane & 1) == 0) continue;
    double values[3] = {};
    bool all_known = true;
    for (std::size_t k = 0; k < i.num_operands; ++k) {
      all_known = all_known && trap.operand_known[k];
      if (!trap.operand_known[k]) continue;
      if (detail::is_signalling(trap.operands[k], i.from, lane)) return Kind::signalling_nan;
      values[k] = detail::element(trap.operands[k], i.from, lane);
    }
    if (!all_known) continue;
    const Kind kind = detail::invalid_in_lane(i.action, values[0], values[1], values[2]);
    if (kind != Kind::invalid) return kind;
  }
  return Kind::invalid;
}

/// Reads the operands, before the instruction runs.
inline void read_operands(const MachineState& state, Trap& trap) noexcept {
  const Instruction& i = trap.instruction;
  const std::size_t size = size_of(i.from);
  const std::uint64_t active = state.lanes_of_mask(i.mask);
  for (std::size_t k = 0; k < i.num_operands; ++k) {
    const Operand& operand = i.operands[k];
    trap.operand_known[k] = true;
    if (!operand.is_memory) {
      state.vector_register(operand.number, trap.operands[k]);
      continue;
    }
    const auto* const at = reinterpret_cast<const unsigned char*>(state.address_of(i));
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
  trap.has_result = i.num_operands > 0 && i.target != Target::mask_or_flags;
  if (i.target == Target::vector_register) state.vector_register(i.destination, trap.result);
  if (i.target != Target::general_register) return;
  const std::uintptr_t value = state.general_register(i.destination);
  std::memcpy(trap.result, &value, sizeof value);
}

}  // namespace nanlens::inline NANLENS_ABI::traps
