/// @file
/// What the opcodes of floating-point instructions mean. Source: Intel's manual, volume 2, appendix A, and that of
/// AVX512-FP16.
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

constexpr Meaning scalar_to_integer(const Encoding& e) noexcept {
  using enum Element;
  constexpr const char* names[2][2] = {{"cvtss2si", "cvtsd2si"}, {"cvttss2si", "cvttsd2si"}};
  if (e.prefix < 2) return {};
  return to_general(names[e.opcode == 0x2C][e.prefix == 3], e.prefix == 3 ? float64 : float32, e.wide ? int64 : int32);
}

constexpr Meaning scalar_to_unsigned(const Encoding& e) noexcept {
  using enum Element;
  constexpr const char* names[2][2] = {{"cvtss2usi", "cvtsd2usi"}, {"cvttss2usi", "cvttsd2usi"}};
  return to_general(names[e.opcode == 0x78][e.prefix == 3], e.prefix == 3 ? float64 : float32,
                    e.wide ? uint64 : uint32);
}

/// Opcodes 78 to 7B: to integers that SSE and AVX do not have.
constexpr Meaning to_other_integers(const Encoding& e) noexcept {
  using enum Element;
  const bool truncates = (e.opcode & 1) == 0;
  const bool is_signed = e.opcode >= 0x7A;
  if (!is_signed && e.prefix >= 2) return scalar_to_unsigned(e);
  if (!is_signed && e.prefix == 0) {
    constexpr const char* names[2][2] = {{"cvtps2udq", "cvtpd2udq"}, {"cvttps2udq", "cvttpd2udq"}};
    return packed_to_integer(names[truncates][e.wide], e.wide ? float64 : float32, uint32);
  }
  if (e.prefix != 1) return {};  // from integers
  constexpr const char* names[2][2][2] = {{{"cvtps2uqq", "cvtpd2uqq"}, {"cvttps2uqq", "cvttpd2uqq"}},
                                          {{"cvtps2qq", "cvtpd2qq"}, {"cvttps2qq", "cvttpd2qq"}}};
  return packed_to_integer(names[is_signed][truncates][e.wide], e.wide ? float64 : float32, is_signed ? int64 : uint64);
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

constexpr Meaning to_int32(const Encoding& e) noexcept {
  using enum Element;
  if (e.opcode == 0x5B && e.prefix == 1) return packed_to_integer("cvtps2dq", float32, int32);
  if (e.opcode == 0x5B && e.prefix == 2) return packed_to_integer("cvttps2dq", float32, int32);
  if (e.opcode == 0xE6 && e.prefix == 1) return packed_to_integer("cvttpd2dq", float64, int32);
  if (e.opcode == 0xE6 && e.prefix == 3) return packed_to_integer("cvtpd2dq", float64, int32);
  return {};
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

constexpr Meaning between_neighbours(const Encoding& e) noexcept {
  if ((e.prefix & 1) == 0) return {};
  const char* const name = e.opcode == 0x7C ? "hadd" : e.opcode == 0x7D ? "hsub" : "addsub";
  return of_one_type(name, e.opcode == 0xD0 ? Action::add_subtract : Action::horizontal,
                     e.prefix == 1 ? Element::float64 : Element::float32, true, Reads::both);
}

constexpr Meaning first_map(const Encoding& e) noexcept {
  switch (e.opcode) {
    case 0x2C:
    case 0x2D: return scalar_to_integer(e);
    case 0x2E:
    case 0x2F: return scalar_comparison(e);
    case 0xC2: return comparison(e, arithmetic("cmp", Action::compare, e));
    case 0x5A: return between_floats(e.prefix);
    case 0x5B:
    case 0xE6: return to_int32(e);
    case 0x78:
    case 0x79:
    case 0x7A:
    case 0x7B: return evex_only(e, to_other_integers(e));
    case 0x7C:
    case 0x7D:
    case 0xD0: return between_neighbours(e);
    default: return basic(e);
  }
}

/// The element of an instruction of maps 2, 3 and 6 that W, or a map of halves, tells.
constexpr Element element_of(const Encoding& e) noexcept {
  return e.map == 6 ? Element::float16 : e.wide ? Element::float64 : Element::float32;
}

constexpr Meaning fused(const Encoding& e) noexcept {
  constexpr const char* operations[] = {"fmaddsub", "fmsubadd", "fmadd",  "fmadd",  "fmsub",
                                        "fmsub",    "fnmadd",   "fnmadd", "fnmsub", "fnmsub"};
  const int low = (e.opcode & 15) - 6;
  if (e.opcode < 0x96 || e.opcode > 0xBF || low < 0 || e.prefix != 1 || e.form == Encoding::Form::legacy) return {};
  const bool scalar = low >= 2 && (low & 1) != 0;
  return of_one_type(operations[low], Action::fused, element_of(e), !scalar, Reads::both);
}

constexpr Meaning second_map(const Encoding& e) noexcept {
  if (e.prefix != 1) return {};
  switch (e.opcode) {
    case 0x13:
      return conversion(e.map == 6 ? "cvtph2psx" : "cvtph2ps", Action::widen, Element::float16, Element::float32, true);
    case 0x2C:
    case 0x2D: return evex_only(e, of_one_type("scalef", Action::scale, element_of(e), e.opcode == 0x2C, Reads::both));
    case 0x42:
    case 0x43: return evex_only(e, of_one_type("getexp", Action::scale, element_of(e), e.opcode == 0x42, Reads::rm));
    default: return fused(e);
  }
}

/// By prefix 66 of floats, W telling which; without a prefix of halves. Source: AVX512-FP16.
constexpr Meaning with_halves(const Encoding& e, const char* name, Action action, bool packed, Reads reads) noexcept {
  if (e.prefix > 1) return {};
  return evex_only(
      e, with_immediate(of_one_type(name, action, e.prefix == 0 ? Element::float16 : element_of(e), packed, reads)));
}

constexpr Meaning rounding(const Encoding& e) noexcept {
  const char* const name = e.form == Encoding::Form::evex ? "rndscale" : "round";
  const bool packed = e.opcode < 0x0A;
  if (e.prefix == 0) return with_halves(e, name, Action::round, packed, Reads::rm);
  const Element element = (e.opcode & 1) != 0 ? Element::float64 : Element::float32;
  return e.prefix == 1 ? with_immediate(of_one_type(name, Action::round, element, packed, Reads::rm)) : Meaning{};
}

/// Halves of floats, which go to memory or a register that is not the first operand.
constexpr Meaning store_of_halves(const Encoding& e) noexcept {
  if (e.prefix != 1 || e.form == Encoding::Form::legacy) return {};
  Meaning m = conversion("cvtps2ph", Action::narrow, Element::float32, Element::float16, true);
  m.reads = Reads::reg;
  m.target = e.rm_is_memory ? Target::memory : Target::vector_register;
  return with_immediate(m);
}

constexpr Meaning third_map(const Encoding& e) noexcept {
  switch (e.opcode) {
    case 0x08:
    case 0x09:
    case 0x0A:
    case 0x0B: return rounding(e);
    case 0x1D: return store_of_halves(e);
    case 0x26:
    case 0x27: return with_halves(e, "getmant", Action::scale, e.opcode == 0x26, Reads::rm);
    case 0x40:
    case 0x41:
      return with_immediate(of_one_type("dp", Action::horizontal,
                                        e.opcode == 0x40 ? Element::float32 : Element::float64, true, Reads::both));
    case 0x50:
    case 0x51: return with_halves(e, "range", Action::extremum, e.opcode == 0x50, Reads::both);
    case 0x54:
    case 0x55: return with_halves(e, "fixupimm", Action::scale, e.opcode == 0x54, Reads::second);
    case 0x56:
    case 0x57: return with_halves(e, "reduce", Action::round, e.opcode == 0x56, Reads::rm);
    case 0xC2:
      if ((e.prefix & 1) != 0) return {};
      return evex_only(
          e, comparison(e, of_one_type("cmp", Action::compare, Element::float16, e.prefix == 0, Reads::both)));
    default: return {};
  }
}

constexpr Meaning halves_and_floats(const Encoding& e) noexcept {
  using enum Element;
  switch (e.prefix) {
    case 0: return conversion("cvtph2pd", Action::widen, float16, float64, true);
    case 1: return conversion("cvtpd2ph", Action::narrow, float64, float16, true);
    case 2: return conversion("cvtsh2sd", Action::widen, float16, float64, false);
    default: return conversion("cvtsd2sh", Action::narrow, float64, float16, false);
  }
}

/// Integers of 32 and 64 bits that become halves, which end at 65,504.
constexpr Meaning integers_to_halves(const Encoding& e, bool is_signed) noexcept {
  using enum Element;
  const Element from = is_signed ? (e.wide ? int64 : int32) : (e.wide ? uint64 : uint32);
  constexpr const char* names[2][2] = {{"cvtudq2ph", "cvtuqq2ph"}, {"cvtdq2ph", "cvtqq2ph"}};
  return conversion(names[is_signed][e.wide], Action::narrow, from, float16, true);
}

/// Of a general register, which is not looked at.
constexpr Meaning integer_to_half(const char* name) noexcept {
  Meaning m = conversion(name, Action::narrow, Element::int64, Element::float16, false);
  m.reads = Reads::none;
  return m;
}

constexpr Meaning halves_to_integers(const Encoding& e) noexcept {
  using enum Element;
  const bool truncates = (e.opcode & 1) == 0;
  switch (e.opcode) {
    case 0x2C: return to_general("cvttsh2si", float16, e.wide ? int64 : int32);
    case 0x2D: return to_general("cvtsh2si", float16, e.wide ? int64 : int32);
    case 0x78:
    case 0x79:
      if (e.prefix == 2) return to_general(truncates ? "cvttsh2usi" : "cvtsh2usi", float16, e.wide ? uint64 : uint32);
      return e.prefix == 0 ? packed_to_integer(truncates ? "cvttph2udq" : "cvtph2udq", float16, uint32)
                           : packed_to_integer(truncates ? "cvttph2uqq" : "cvtph2uqq", float16, uint64);
    case 0x7A:
    case 0x7B: return packed_to_integer(truncates ? "cvttph2qq" : "cvtph2qq", float16, int64);
    default:
      return e.prefix == 0 ? packed_to_integer(truncates ? "cvttph2uw" : "cvtph2uw", float16, uint16)
                           : packed_to_integer(truncates ? "cvttph2w" : "cvtph2w", float16, int16);
  }
}

/// Map 5, of halves.
constexpr Meaning map_of_halves(const Encoding& e) noexcept {
  using enum Element;
  switch (e.opcode) {
    case 0x1D:
      return e.prefix == 1 ? conversion("cvtps2phx", Action::narrow, float32, float16, true)
                           : conversion("cvtss2sh", Action::narrow, float32, float16, false);
    case 0x2A: return integer_to_half("cvtsi2sh");
    case 0x2C:
    case 0x2D: return halves_to_integers(e);
    case 0x2E:
    case 0x2F: return scalar_comparison(e);
    case 0x5A: return halves_and_floats(e);
    case 0x5B:
      if (e.prefix == 0) return integers_to_halves(e, true);
      return packed_to_integer(e.prefix == 1 ? "cvtph2dq" : "cvttph2dq", float16, int32);
    case 0x78:
    case 0x79: return halves_to_integers(e);
    case 0x7A: return e.prefix == 3 ? integers_to_halves(e, false) : halves_to_integers(e);
    case 0x7B: return e.prefix == 2 ? integer_to_half("cvtusi2sh") : halves_to_integers(e);
    case 0x7C: return halves_to_integers(e);
    case 0x7D:
      if (e.prefix >= 2)
        return conversion(e.prefix == 2 ? "cvtw2ph" : "cvtuw2ph", Action::narrow, e.prefix == 2 ? int16 : uint16,
                          float16, true);
      return halves_to_integers(e);
    default: return basic(e);
  }
}

/// Map 6: what map 2 has, of halves.
constexpr Meaning second_map_of_halves(const Encoding& e) noexcept {
  if (e.opcode == 0x13 && e.prefix == 0)
    return conversion("cvtsh2ss", Action::widen, Element::float16, Element::float32, false);
  return second_map(e);
}

constexpr Meaning meaning_of(const Encoding& e) noexcept {
  switch (e.map) {
    case 1: return first_map(e);
    case 2: return second_map(e);
    case 3: return third_map(e);
    case 5: return map_of_halves(e);
    case 6: return second_map_of_halves(e);
    default: return {};
  }
}

}  // namespace nanlens::inline NANLENS_ABI::traps::detail
