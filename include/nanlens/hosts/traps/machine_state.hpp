/// @file
/// The registers of a thread that a signal has stopped, as the kernel hands them to a handler on Linux, x86-64.
/// Everything here may be called inside a signal handler.
#pragma once

#include <csignal>

#include <cpuid.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <nanlens/hosts/traps/instruction.hpp>

namespace nanlens::inline NANLENS_ABI::traps {

/// Bits of MXCSR: flags in 0 to 5, and 7 higher the bit that masks the exception.
inline constexpr std::uint32_t mxcsr_invalid = 1;
inline constexpr std::uint32_t mxcsr_divide_by_zero = 4;
inline constexpr std::uint32_t mxcsr_overflow = 8;
inline constexpr std::uint32_t mxcsr_flags = 0x3F;
inline constexpr std::uint32_t mxcsr_denormals_are_zero = 0x40;
inline constexpr int mxcsr_mask_shift = 7;

inline constexpr std::size_t vector_bytes = 64;

/// Where XSAVE puts the parts of the wide registers, asked of the CPU once, before any handler runs.
struct StateLayout {
  std::uint32_t upper_halves = 0;  ///< bytes 16 to 31 of registers 0 to 15
  std::uint32_t masks = 0;
  std::uint32_t upper_quarters = 0;  ///< bytes 32 to 63 of registers 0 to 15
  std::uint32_t high_registers = 0;  ///< registers 16 to 31
  StateLayout() noexcept {
    const auto offset = [](unsigned component) {
      unsigned size = 0;
      unsigned at = 0;
      unsigned c = 0;
      unsigned d = 0;
      return __get_cpuid_count(0xD, component, &size, &at, &c, &d) != 0 && size != 0 ? at : 0U;
    };
    upper_halves = offset(2);
    masks = offset(5);
    upper_quarters = offset(6);
    high_registers = offset(7);
  }
};
inline const StateLayout state_layout;

class MachineState {
 public:
  explicit MachineState(void* context) noexcept : context_(static_cast<ucontext_t*>(context)) {}

  [[nodiscard]] std::uintptr_t pc() const noexcept { return general(REG_RIP); }
  [[nodiscard]] std::uint32_t& mxcsr() const noexcept { return context_->uc_mcontext.fpregs->mxcsr; }
  /// Is the next instruction one of the x87 unit? They report what an earlier one has raised.
  [[nodiscard]] bool at_x87() const noexcept {
    const std::uint8_t opcode = *reinterpret_cast<const std::uint8_t*>(pc());
    return (opcode & 0xF8) == 0xD8 || opcode == 0x9B;
  }
  /// What the program has unmasked itself, as flags: the C library does that in both units alike.
  [[nodiscard]] std::uint32_t unmasked_by_program() const noexcept {
    return ~std::uint32_t{context_->uc_mcontext.fpregs->cwd} & mxcsr_flags;
  }
  void unblock(int signal) const noexcept { ::sigdelset(&context_->uc_sigmask, signal); }
  /// The trap flag: one instruction, then SIGTRAP. What it was before.
  bool single_step(bool on) const noexcept {  // NOLINT(modernize-use-nodiscard): it sets the flag
    constexpr greg_t trap_flag = 0x100;
    greg_t& flags = context_->uc_mcontext.gregs[REG_EFL];
    const bool before = (flags & trap_flag) != 0;
    flags = on ? flags | trap_flag : flags & ~trap_flag;
    return before;
  }
  /// A general register, by the number that instructions have for it.
  [[nodiscard]] std::uintptr_t general_register(int number) const noexcept {
    constexpr int order[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                             REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return general(order[number & 15]);
  }
  /// All that is known of a vector register: 64 bytes, 0 where the CPU has none or did not save them.
  void vector_register(int number, unsigned char (&bytes)[vector_bytes]) const noexcept {
    std::memset(bytes, 0, sizeof bytes);
    const auto* const area = reinterpret_cast<const unsigned char*>(context_->uc_mcontext.fpregs);
    const auto n = static_cast<std::size_t>(number);
    if (number >= 16) {
      if (has(7)) std::memcpy(bytes, area + state_layout.high_registers + (n - 16) * 64, 64);
      return;
    }
    std::memcpy(bytes, &context_->uc_mcontext.fpregs->_xmm[n], 16);
    if (has(2)) std::memcpy(bytes + 16, area + state_layout.upper_halves + n * 16, 16);
    if (has(6)) std::memcpy(bytes + 32, area + state_layout.upper_quarters + n * 32, 32);
  }
  /// Which lanes an instruction computes, as bits.
  [[nodiscard]] std::uint64_t lanes_of_mask(int number) const noexcept {
    std::uint64_t lanes = ~std::uint64_t{0};
    if (number == 0 || !has(5)) return lanes;
    const auto* const area = reinterpret_cast<const unsigned char*>(context_->uc_mcontext.fpregs);
    std::memcpy(&lanes, area + state_layout.masks + static_cast<std::size_t>(number) * 8, 8);
    return lanes;
  }
  /// The address of the memory operand of the instruction at `place`; 0 where it can't be told.
  [[nodiscard]] std::uintptr_t address_of(const Instruction& i, std::uintptr_t place) const noexcept {
    const Address& a = i.address;
    auto address = static_cast<std::uintptr_t>(a.displacement);
    if (a.base == Address::instruction_pointer)
      address += place + i.length;
    else if (a.base != Address::no_register)
      address += general_register(a.base);
    if (a.index != Address::no_register) address += general_register(a.index) * a.scale;
    if (a.is_32_bit) address &= 0xFFFFFFFFU;
    if (a.segment != 0) {
      std::uintptr_t base = 0;
      constexpr int get_fs = 0x1003;
      constexpr int get_gs = 0x1004;
      if (::syscall(SYS_arch_prctl, a.segment == 0x64 ? get_fs : get_gs, &base) != 0) return 0;
      address += base;
    }
    return address;
  }

 private:
  [[nodiscard]] std::uintptr_t general(int index) const noexcept {
    return static_cast<std::uintptr_t>(context_->uc_mcontext.gregs[index]);
  }
  // The kernel marks a frame that holds more than FXSAVE in 48 bytes that software may use; what is in its initial
  // state is not written, and its bit is 0.
  [[nodiscard]] bool has(int component) const noexcept {
    const auto* const area = reinterpret_cast<const unsigned char*>(context_->uc_mcontext.fpregs);
    constexpr std::uint32_t extended_magic = 0x46505853;
    std::uint32_t magic = 0;
    std::uint64_t saved = 0;
    std::memcpy(&magic, area + 464, sizeof magic);
    if (magic != extended_magic) return false;
    std::memcpy(&saved, area + 512, sizeof saved);
    return (saved >> component & 1) != 0;
  }

  ucontext_t* context_;
};

}  // namespace nanlens::inline NANLENS_ABI::traps
