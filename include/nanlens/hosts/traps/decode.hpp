/// @file
/// From an instruction's bytes to what it does.
#pragma once

#include <nanlens/hosts/traps/encoding.hpp>
#include <nanlens/hosts/traps/instruction.hpp>

namespace nanlens::inline NANLENS_ABI::traps {

namespace detail {

/// What an opcode means, before operands are looked at.
struct Meaning {
  const char* name = nullptr;  ///< without the suffix that tells the elements; null: not known here
  Action action = Action::unknown;
  bool suffixed = true;
  bool packed = false;
  bool unary = false;
  bool has_immediate = false;
  Element from = Element::float64;
  Element to = Element::float64;
  Target target = Target::vector_register;
};

constexpr const char* suffixes[] = {"ps", "pd", "ss", "sd"};

/// Packed or scalar, single or double, by the prefix: what most instructions of map 1 have in common.
constexpr Meaning arithmetic(const char* name, Action action, std::uint8_t prefix, bool unary = false) noexcept {
  const Element element = (prefix & 1) != 0 ? Element::float64 : Element::float32;
  return {name, action, true, prefix < 2, unary, false, element, element, Target::vector_register};
}

constexpr Meaning conversion(const char* name, Action action, Element from, Element to, bool packed) noexcept {
  return {name, action, false, packed, true, false, from, to, Target::vector_register};
}

constexpr Meaning to_integer(const Encoding& e) noexcept {
  constexpr const char* names[2][2] = {{"cvtss2si", "cvtsd2si"}, {"cvttss2si", "cvttsd2si"}};
  if (e.prefix < 2) return {};
  Meaning m =
      conversion(names[e.opcode == 0x2C][e.prefix == 3], Action::to_integer,
                 e.prefix == 3 ? Element::float64 : Element::float32, e.wide ? Element::int64 : Element::int32, false);
  m.target = Target::general_register;
  return m;
}

constexpr Meaning between_floats(std::uint8_t prefix) noexcept {
  using enum Element;
  switch (prefix) {
    case 0: return conversion("cvtps2pd", Action::widen, float32, float64, true);
    case 1: return conversion("cvtpd2ps", Action::narrow, float64, float32, true);
    case 2: return conversion("cvtss2sd", Action::widen, float32, float64, false);
    default: return conversion("cvtsd2ss", Action::narrow, float64, float32, false);
  }
}

constexpr Meaning packed_to_integer(const Encoding& e) noexcept {
  using enum Element;
  if (e.opcode == 0x5B && e.prefix == 1) return conversion("cvtps2dq", Action::to_integer, float32, int32, true);
  if (e.opcode == 0x5B && e.prefix == 2) return conversion("cvttps2dq", Action::to_integer, float32, int32, true);
  if (e.opcode == 0xE6 && e.prefix == 1) return conversion("cvttpd2dq", Action::to_integer, float64, int32, true);
  if (e.opcode == 0xE6 && e.prefix == 3) return conversion("cvtpd2dq", Action::to_integer, float64, int32, true);
  return {};
}

constexpr Meaning comparison(const Encoding& e) noexcept {
  Meaning m = arithmetic(e.opcode == 0x2E ? "ucomi" : e.opcode == 0x2F ? "comi" : "cmp", Action::compare, e.prefix);
  m.has_immediate = e.opcode == 0xC2;
  if (m.has_immediate && e.form != Encoding::Form::evex) return m;
  if (!m.has_immediate) {
    if (e.prefix > 1) return {};
    m.packed = m.suffixed = false;
    constexpr const char* names[2][2] = {{"ucomiss", "ucomisd"}, {"comiss", "comisd"}};
    m.name = names[e.opcode == 0x2F][e.prefix];
  }
  m.target = Target::mask_or_flags;
  return m;
}

constexpr Meaning first_map(const Encoding& e) noexcept {
  switch (e.opcode) {
    case 0x2C:
    case 0x2D: return to_integer(e);
    case 0x2E:
    case 0x2F:
    case 0xC2: return comparison(e);
    case 0x51: return arithmetic("sqrt", Action::square_root, e.prefix, true);
    case 0x58: return arithmetic("add", Action::add, e.prefix);
    case 0x59: return arithmetic("mul", Action::multiply, e.prefix);
    case 0x5A: return between_floats(e.prefix);
    case 0x5B:
    case 0xE6: return packed_to_integer(e);
    case 0x5C: return arithmetic("sub", Action::subtract, e.prefix);
    case 0x5D: return arithmetic("min", Action::extremum, e.prefix);
    case 0x5E: return arithmetic("div", Action::divide, e.prefix);
    case 0x5F: return arithmetic("max", Action::extremum, e.prefix);
    case 0x7C:
    case 0x7D:
    case 0xD0: break;
    default: return {};
  }
  if ((e.prefix & 1) == 0) return {};
  const char* const name = e.opcode == 0x7C ? "hadd" : e.opcode == 0x7D ? "hsub" : "addsub";
  Meaning m = arithmetic(name, e.opcode == 0xD0 ? Action::add_subtract : Action::horizontal, e.prefix == 1 ? 1 : 0);
  return m;
}

constexpr Meaning fused(const Encoding& e) noexcept {
  constexpr const char* operations[] = {"fmaddsub", "fmsubadd", "fmadd",  "fmadd",  "fmsub",
                                        "fmsub",    "fnmadd",   "fnmadd", "fnmsub", "fnmsub"};
  const int low = (e.opcode & 15) - 6;
  if (e.opcode < 0x96 || e.opcode > 0xBF || low < 0 || e.prefix != 1 || e.form == Encoding::Form::legacy) return {};
  const bool scalar = low >= 2 && (low & 1) != 0;
  return arithmetic(operations[low], Action::fused, static_cast<std::uint8_t>((scalar ? 2 : 0) + (e.wide ? 1 : 0)));
}

constexpr Meaning rounding(const Encoding& e) noexcept {
  if (e.opcode < 0x08 || e.opcode > 0x0B || e.prefix != 1) return {};
  Meaning m = arithmetic(e.form == Encoding::Form::evex ? "rndscale" : "round", Action::round,
                         static_cast<std::uint8_t>(e.opcode - 0x08), true);
  m.has_immediate = true;
  return m;
}

constexpr Meaning meaning_of(const Encoding& e) noexcept {
  switch (e.map) {
    case 1: return first_map(e);
    case 2: return fused(e);
    case 3: return rounding(e);
    default: return {};
  }
}

inline void write_name(const Encoding& e, const Meaning& m, char (&name)[20]) noexcept {
  std::size_t at = 0;
  const auto add = [&](const char* text) {
    while (*text != '\0' && at + 1 < sizeof name) name[at++] = *text++;
  };
  if (e.form != Encoding::Form::legacy) add("v");
  add(m.name);
  if (m.action == Action::fused) add(e.opcode < 0xA0 ? "132" : e.opcode < 0xB0 ? "213" : "231");
  if (m.suffixed) add(suffixes[(m.packed ? 0 : 2) + (m.from == Element::float64 ? 1 : 0)]);
  name[at] = '\0';
}

inline void place_operands(const Encoding& e, const Meaning& m, Instruction& i) noexcept {
  const Operand rm{e.rm_is_memory, e.rm_is_memory && e.broadcast, e.rm};
  const Operand reg{false, false, e.reg};
  const Operand second{false, false, e.second};
  const bool three = e.form != Encoding::Form::legacy && m.target != Target::mask_or_flags;
  i.num_operands = m.action == Action::fused ? 3 : m.unary ? 1 : 2;
  i.operands[0] = m.unary ? rm : three || (e.opcode == 0xC2 && e.form != Encoding::Form::legacy) ? second : reg;
  i.operands[1] = rm;
  if (m.action != Action::fused) return;
  const Operand orders[3][3] = {{reg, rm, second}, {second, reg, rm}, {second, rm, reg}};  // 132, 213, 231
  const auto& order = orders[e.opcode < 0xA0 ? 0 : e.opcode < 0xB0 ? 1 : 2];
  for (int k = 0; k < 3; ++k) i.operands[k] = order[k];
}

/// AVX-512 counts a displacement of one byte in units of what is read.
inline std::int64_t unit_of(const Encoding& e, const Instruction& i) noexcept {
  const auto element = static_cast<std::int64_t>(size_of(i.from));
  return !i.is_packed || e.broadcast ? element : element * i.lanes;
}

}  // namespace detail

/// Decodes the instruction at `pc`, whose bytes must be readable. False, with the name "instruction", for what is not
/// known here.
inline bool decode(const std::uint8_t* pc, Instruction& i) noexcept {
  Encoding e;
  if (!detail::EncodingReader(pc).read(e)) return false;
  const detail::Meaning m = detail::meaning_of(e);
  if (m.name == nullptr) return false;
  detail::write_name(e, m, i.name);
  i.action = m.action;
  i.from = m.from;
  i.to = m.to;
  i.is_packed = m.packed;
  const bool rounds = e.form == Encoding::Form::evex && e.broadcast && !e.rm_is_memory;
  const std::size_t bytes = std::size_t{16} << (rounds ? 2 : e.vector);
  const std::size_t widest = size_of(m.from) > size_of(m.to) ? size_of(m.from) : size_of(m.to);
  i.lanes = m.packed ? static_cast<std::uint8_t>(bytes / widest) : std::uint8_t{1};
  detail::place_operands(e, m, i);
  i.target = m.target;
  i.destination = e.reg;
  i.mask = e.mask;
  i.length = static_cast<std::uint8_t>(e.length + (m.has_immediate ? 1 : 0));
  i.address = e.address;
  if (e.form == Encoding::Form::evex && e.has_byte_displacement) i.address.displacement *= detail::unit_of(e, i);
  return true;
}

}  // namespace nanlens::inline NANLENS_ABI::traps
