/// @file
/// What an opcode of a floating-point instruction means, and what many of them have in common. Source: Intel's manual,
/// volume 2, appendix A, and that of AVX512-FP16.
#pragma once

#include <nanlens/hosts/traps/encoding.hpp>
#include <nanlens/hosts/traps/instruction.hpp>

namespace nanlens::inline NANLENS_ABI::traps::detail {

/// Which of an instruction's operands are numbers that it computes with.
enum class Reads : std::uint8_t { both, rm, reg, second, none };

/// What an opcode means, before operands are looked at.
struct Meaning {
  const char* name = nullptr;  ///< without the suffix that tells the elements; null: not known here
  Action action = Action::unknown;
  bool suffixed = true;
  bool packed = false;
  Reads reads = Reads::both;
  bool has_immediate = false;
  Element from = Element::float64;
  Element to = Element::float64;
  Target target = Target::vector_register;
};

constexpr Meaning with_immediate(Meaning m) noexcept {
  m.has_immediate = true;
  return m;
}

constexpr Meaning of_one_type(const char* name, Action action, Element element, bool packed, Reads reads) noexcept {
  return {name, action, true, packed, reads, false, element, element, Target::vector_register};
}

/// Packed or scalar, single or double, by the prefix: what most instructions of map 1 have in common. In map 5 they are
/// of halves.
constexpr Meaning arithmetic(const char* name, Action action, const Encoding& e, Reads reads = Reads::both) noexcept {
  if (e.map == 5 && (e.prefix & 1) != 0) return {};
  const Element element = e.map == 5 ? Element::float16 : (e.prefix & 1) != 0 ? Element::float64 : Element::float32;
  return of_one_type(name, action, element, e.prefix < 2, reads);
}

constexpr Meaning conversion(const char* name, Action action, Element from, Element to, bool packed) noexcept {
  return {name, action, false, packed, Reads::rm, false, from, to, Target::vector_register};
}

/// What only AVX-512 has.
constexpr Meaning evex_only(const Encoding& e, Meaning m) noexcept {
  return e.form == Encoding::Form::evex ? m : Meaning{};
}

/// One number to a general register.
constexpr Meaning to_general(const char* name, Element from, Element to) noexcept {
  Meaning m = conversion(name, Action::to_integer, from, to, false);
  m.target = Target::general_register;
  return m;
}

constexpr Meaning packed_to_integer(const char* name, Element from, Element to) noexcept {
  return conversion(name, Action::to_integer, from, to, true);
}

/// To flags.
constexpr Meaning scalar_comparison(const Encoding& e) noexcept {
  if (e.prefix > 1) return {};
  constexpr const char* names[2][3] = {{"ucomiss", "ucomisd", "ucomish"}, {"comiss", "comisd", "comish"}};
  Meaning m = arithmetic(names[e.opcode == 0x2F][e.map == 5 ? 2 : e.prefix], Action::compare, e);
  if (m.name == nullptr) return {};
  m.packed = m.suffixed = false;
  m.target = Target::mask_or_flags;
  return m;
}

constexpr Meaning comparison(const Encoding& e, Meaning m) noexcept {
  if (e.form == Encoding::Form::evex) m.target = Target::mask_or_flags;
  return with_immediate(m);
}

/// Opcodes 51 to 5F, which maps 1 and 5 have in common.
constexpr Meaning basic(const Encoding& e) noexcept {
  switch (e.opcode) {
    case 0x51: return arithmetic("sqrt", Action::square_root, e, Reads::rm);
    case 0x58: return arithmetic("add", Action::add, e);
    case 0x59: return arithmetic("mul", Action::multiply, e);
    case 0x5C: return arithmetic("sub", Action::subtract, e);
    case 0x5D: return arithmetic("min", Action::extremum, e);
    case 0x5E: return arithmetic("div", Action::divide, e);
    case 0x5F: return arithmetic("max", Action::extremum, e);
    default: return {};
  }
}

}  // namespace nanlens::inline NANLENS_ABI::traps::detail
