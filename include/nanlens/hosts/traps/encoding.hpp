/// @file
/// The encoding around an opcode of x86-64: prefixes, ModRM, SIB, displacement.
#pragma once

#include <nanlens/hosts/traps/instruction.hpp>

namespace nanlens::inline NANLENS_ABI::traps {

/// The parts of an instruction before anybody asks what it does.
struct Encoding {
  enum class Form : std::uint8_t { legacy, vex, evex };
  Form form = Form::legacy;
  std::uint8_t map = 1;     ///< 1: 0F, 2: 0F 38, 3: 0F 3A, 5 and 6: of AVX512-FP16
  std::uint8_t prefix = 0;  ///< 0: none, 1: 66, 2: F3, 3: F2
  std::uint8_t opcode = 0;
  bool wide = false;        ///< W
  std::uint8_t vector = 0;  ///< length: 0: 16 bytes, 1: 32, 2: 64
  std::uint8_t second = 0;  ///< the register in vvvv
  std::uint8_t mask = 0;
  bool broadcast = false;  ///< or, with registers, that rounding is given
  std::uint8_t reg = 0;
  std::uint8_t rm = 0;  ///< the register, where it is one
  bool rm_is_memory = false;
  bool has_byte_displacement = false;  ///< which AVX-512 scales
  Address address;
  std::uint8_t length = 0;  ///< without immediate bytes
};

namespace detail {

/// Reads the bytes of one instruction.
class EncodingReader {
 public:
  explicit EncodingReader(const std::uint8_t* at) noexcept : begin_(at), at_(at) {}

  /// False for what is no instruction of the maps above.
  bool read(Encoding& e) noexcept {
    if (!read_prefixes(e)) return false;
    e.opcode = *at_++;
    read_operands(e);
    e.length = static_cast<std::uint8_t>(at_ - begin_);
    return true;
  }

 private:
  bool read_prefixes(Encoding& e) noexcept {
    constexpr int longest = 14;
    for (int i = 0; i < longest; ++i, ++at_) {
      switch (*at_) {
        case 0x66: e.prefix = e.prefix == 0 ? 1 : e.prefix; continue;
        case 0xF3: e.prefix = 2; continue;
        case 0xF2: e.prefix = 3; continue;
        case 0x67: e.address.is_32_bit = true; continue;
        case 0x64:
        case 0x65: e.address.segment = *at_; continue;
        case 0x2E:
        case 0x36:
        case 0x3E:
        case 0x26: continue;
        case 0xC5: return read_vex2(e);
        case 0xC4: return read_vex3(e);
        case 0x62: return read_evex(e);
        default: return read_legacy(e);
      }
    }
    return false;
  }
  bool read_legacy(Encoding& e) noexcept {
    if ((*at_ & 0xF0) == 0x40) {
      e.wide = (*at_ & 8) != 0;
      set_extensions((*at_ & 4) != 0, (*at_ & 2) != 0, (*at_ & 1) != 0);
      ++at_;
    }
    if (*at_++ != 0x0F) return false;
    if (*at_ == 0x38 || *at_ == 0x3A) e.map = *at_++ == 0x38 ? 2 : 3;
    return true;
  }
  bool read_vex2(Encoding& e) noexcept {
    e.form = Encoding::Form::vex;
    set_extensions((at_[1] & 0x80) == 0, false, false);
    read_vex_tail(e, at_[1]);
    at_ += 2;
    return true;
  }
  bool read_vex3(Encoding& e) noexcept {
    e.form = Encoding::Form::vex;
    set_extensions((at_[1] & 0x80) == 0, (at_[1] & 0x40) == 0, (at_[1] & 0x20) == 0);
    e.map = at_[1] & 31;
    e.wide = (at_[2] & 0x80) != 0;
    read_vex_tail(e, at_[2]);
    at_ += 3;
    return true;
  }
  static void read_vex_tail(Encoding& e, std::uint8_t byte) noexcept {
    e.second = static_cast<std::uint8_t>(~byte >> 3 & 15);
    e.vector = byte >> 2 & 1;
    e.prefix = byte & 3;
  }
  bool read_evex(Encoding& e) noexcept {
    e.form = Encoding::Form::evex;
    set_extensions((at_[1] & 0x80) == 0, (at_[1] & 0x40) == 0, (at_[1] & 0x20) == 0);
    high_reg_ = (at_[1] & 0x10) == 0 ? 16 : 0;
    high_rm_ = x_ ? 16 : 0;
    e.map = at_[1] & 7;
    e.wide = (at_[2] & 0x80) != 0;
    e.prefix = at_[2] & 3;
    e.second = static_cast<std::uint8_t>((~at_[2] >> 3 & 15) | ((at_[3] & 8) == 0 ? 16 : 0));
    e.mask = at_[3] & 7;
    e.broadcast = (at_[3] & 0x10) != 0;
    e.vector = at_[3] >> 5 & 3;
    at_ += 4;
    return true;
  }
  void set_extensions(bool r, bool x, bool b) noexcept {
    r_ = r;
    x_ = x;
    b_ = b;
  }
  void read_operands(Encoding& e) noexcept {
    const std::uint8_t modrm = *at_++;
    const int mode = modrm >> 6;
    e.reg = static_cast<std::uint8_t>((modrm >> 3 & 7) | (r_ ? 8 : 0) | high_reg_);
    e.rm_is_memory = mode != 3;
    if (!e.rm_is_memory) {
      e.rm = static_cast<std::uint8_t>((modrm & 7) | (b_ ? 8 : 0) | high_rm_);
      return;
    }
    const int low = modrm & 7;
    const bool has_sib = low == 4;
    int base = low;
    if (has_sib) base = read_sib(e);
    const bool no_base = mode == 0 && base == 5;
    if (no_base)
      e.address.base = has_sib ? Address::no_register : Address::instruction_pointer;
    else
      e.address.base = static_cast<std::int8_t>(base | (b_ ? 8 : 0));
    e.has_byte_displacement = mode == 1;
    if (mode == 1) e.address.displacement = static_cast<std::int8_t>(*at_++);
    if (mode == 2 || no_base) read_displacement(e);
  }
  int read_sib(Encoding& e) noexcept {
    const std::uint8_t sib = *at_++;
    const int index = (sib >> 3 & 7) | (x_ ? 8 : 0);
    e.address.index = index == 4 ? Address::no_register : static_cast<std::int8_t>(index);
    e.address.scale = static_cast<std::uint8_t>(1 << (sib >> 6));
    return sib & 7;
  }
  void read_displacement(Encoding& e) noexcept {
    std::int32_t displacement = 0;
    std::memcpy(&displacement, at_, sizeof displacement);
    e.address.displacement = displacement;
    at_ += sizeof displacement;
  }

  const std::uint8_t* begin_;
  const std::uint8_t* at_;
  bool r_ = false;
  bool x_ = false;
  bool b_ = false;
  int high_reg_ = 0;
  int high_rm_ = 0;
};

}  // namespace detail
}  // namespace nanlens::inline NANLENS_ABI::traps
