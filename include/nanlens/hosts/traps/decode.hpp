/// @file
/// From an instruction's bytes to what it does.
#pragma once

#include <nanlens/hosts/traps/encoding.hpp>
#include <nanlens/hosts/traps/float_meanings.hpp>
#include <nanlens/hosts/traps/half_meanings.hpp>
#include <nanlens/hosts/traps/instruction.hpp>

namespace nanlens::inline NANLENS_ABI::traps {

namespace detail {

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

inline void write_name(const Encoding& e, const Meaning& m, char (&name)[20]) noexcept {
  std::size_t at = 0;
  const auto add = [&](const char* text) {
    while (*text != '\0' && at + 1 < sizeof name) name[at++] = *text++;
  };
  if (e.form != Encoding::Form::legacy) add("v");
  add(m.name);
  if (m.action == Action::fused) add(e.opcode < 0xA0 ? "132" : e.opcode < 0xB0 ? "213" : "231");
  constexpr const char* suffixes[2][3] = {{"sh", "ss", "sd"}, {"ph", "ps", "pd"}};
  if (m.suffixed) add(suffixes[m.packed][static_cast<int>(m.from)]);
  name[at] = '\0';
}

/// Does an instruction compute with two operands that are not its result? Those of SSE write over the first.
inline bool is_of_two_others(const Encoding& e, const Meaning& m) noexcept {
  constexpr std::uint8_t comparison_to_mask = 0xC2;
  return e.form != Encoding::Form::legacy && (m.target != Target::mask_or_flags || e.opcode == comparison_to_mask);
}

inline void place_operands(const Encoding& e, const Meaning& m, Instruction& i) noexcept {
  const Operand rm{e.rm_is_memory, e.rm_is_memory && e.broadcast, e.rm};
  const Operand reg{false, false, e.reg};
  const Operand second{false, false, e.second};
  switch (m.reads) {
    case Reads::none: return;
    case Reads::rm: i.operands[0] = rm; break;
    case Reads::reg: i.operands[0] = reg; break;
    case Reads::second: i.operands[0] = second; break;
    case Reads::both: i.operands[0] = is_of_two_others(e, m) ? second : reg; i.operands[1] = rm;
  }
  i.num_operands = m.action == Action::fused ? 3 : m.reads == Reads::both ? 2 : 1;
  if (m.action != Action::fused) return;
  const Operand orders[3][3] = {{reg, rm, second}, {second, reg, rm}, {second, rm, reg}};  // 132, 213, 231
  const auto& order = orders[e.opcode < 0xA0 ? 0 : e.opcode < 0xB0 ? 1 : 2];
  for (int k = 0; k < 3; ++k) i.operands[k] = order[k];
  constexpr FusedSigns signs[] = {{false, true, false}, {false, false, true}, {},     {},
                                  {false, true, true},  {false, true, true},  {true}, {true},
                                  {true, true, true},   {true, true, true}};  // by opcode, in its low half from 6 on
  i.signs = signs[(e.opcode & 15) - 6];
}

/// AVX-512 counts a displacement of one byte in units of what is read, or written.
inline std::int64_t unit_of(const Encoding& e, const Instruction& i) noexcept {
  const auto element = static_cast<std::int64_t>(size_of(i.target == Target::memory ? i.to : i.from));
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
  i.target = m.target;
  detail::place_operands(e, m, i);
  i.destination = m.reads == detail::Reads::reg ? e.rm : e.reg;
  i.mask = e.mask;
  i.length = static_cast<std::uint8_t>(e.length + (m.has_immediate ? 1 : 0));
  i.address = e.address;
  if (e.form == Encoding::Form::evex && e.has_byte_displacement) i.address.displacement *= detail::unit_of(e, i);
  return true;
}

}  // namespace nanlens::inline NANLENS_ABI::traps
