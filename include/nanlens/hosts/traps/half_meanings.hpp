/// @file
/// Maps 5 and 6 of opcodes: halves (AVX512-FP16).
#pragma once

#include <nanlens/hosts/traps/float_meanings.hpp>

namespace nanlens::inline NANLENS_ABI::traps::detail {

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

}  // namespace nanlens::inline NANLENS_ABI::traps::detail
