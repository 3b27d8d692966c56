/// @file
/// What a floating-point instruction of x86-64 is: its name, what it does, and where its operands lie. Decodes what can
/// raise an exception in SSE, AVX, AVX-512, FMA and F16C, scalar and packed, from its bytes. Source: Intel's manual,
/// volume 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::traps {

enum class Action : std::uint8_t {
  unknown,
  add,
  subtract,
  add_subtract,  // alternately
  horizontal,    // neighbours of one operand with each other
  multiply,
  divide,
  square_root,
  fused,  // a·b + c, with either sign
  extremum,
  compare,
  to_integer,
  narrow,
  widen,
  round,
  scale,  // by a power of two, or the parts of a number
};

enum class Element : std::uint8_t { float16, float32, float64, int16, int32, int64, uint16, uint32, uint64 };

constexpr std::size_t size_of(Element element) noexcept {
  constexpr std::uint8_t sizes[] = {2, 4, 8, 2, 4, 8, 2, 4, 8};
  return sizes[static_cast<int>(element)];
}

constexpr bool is_floating(Element element) noexcept { return element <= Element::float64; }

/// A register by its number, or memory.
struct Operand {
  bool is_memory = false;
  bool is_broadcast = false;  ///< one element in memory stands for all
  std::uint8_t number = 0;    ///< of the register
};

/// Where a memory operand lies: base + index · scale + displacement, each register where it has one.
struct Address {
  static constexpr std::int8_t no_register = -1;
  static constexpr std::int8_t instruction_pointer = -2;  ///< of the instruction that follows
  std::int8_t base = no_register;
  std::int8_t index = no_register;
  std::uint8_t scale = 1;
  std::uint8_t segment = 0;  ///< the prefix, 0x64 (fs) or 0x65 (gs); 0: none
  bool is_32_bit = false;
  std::int64_t displacement = 0;
};

/// Where a result goes.
enum class Target : std::uint8_t { vector_register, general_register, memory, mask_or_flags };

/// The signs with which a fused instruction computes ±a·b ± c.
struct FusedSigns {
  bool minus_product = false;
  bool minus_even = false;  ///< −c in lanes 0, 2, …
  bool minus_odd = false;
};

struct Instruction {
  char name[20] = "instruction";
  Action action = Action::unknown;
  FusedSigns signs;
  Element from = Element::float64;
  Element to = Element::float64;
  std::uint8_t lanes = 0;  ///< elements of the result, and of each operand; 0: the instruction is not known here
  std::uint8_t num_operands = 0;
  Operand operands[3] = {};  ///< as a formula has them: a/b, a·b + c
  Address address;
  Target target = Target::vector_register;
  std::uint8_t destination = 0;
  std::uint8_t mask = 0;  ///< the mask register that says which lanes are computed; 0: all are
  bool is_packed = false;
  std::uint8_t length = 0;  ///< bytes
};

}  // namespace nanlens::inline NANLENS_ABI::traps
