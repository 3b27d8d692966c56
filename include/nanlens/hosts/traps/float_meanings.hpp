/// @file
/// Maps 1 to 3 of opcodes: floats and doubles, and their conversions.
#pragma once

#include <nanlens/hosts/traps/meaning.hpp>

namespace nanlens::inline NANLENS_ABI::traps::detail {

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
      return with_immediate(of_one_type("dp", Action::unknown, e.opcode == 0x40 ? Element::float32 : Element::float64,
                                        true, Reads::both));
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

}  // namespace nanlens::inline NANLENS_ABI::traps::detail
