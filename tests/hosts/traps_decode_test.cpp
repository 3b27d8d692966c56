// From bytes to instructions: the assembler makes the bytes, of instructions that this processor need not have.
#include <doctest/doctest.h>

#include <string>

#include <nanlens/hosts/traps/decode.hpp>

namespace traps = nanlens::traps;

namespace {

// "vdivpd 4 x float64 -> float64: x2, x3 to x1"
std::string described(const traps::Instruction& i) {
  constexpr const char* elements[] = {"float16", "float32", "float64", "int16", "int32",
                                      "int64",   "uint16",  "uint32",  "uint64"};
  std::string text = std::string(i.name) + " " + std::to_string(i.lanes) + (i.is_packed ? " x " : " ") +
                     elements[static_cast<int>(i.from)] + " -> " + elements[static_cast<int>(i.to)] + ":";
  for (int k = 0; k < i.num_operands; ++k) {
    const traps::Operand& o = i.operands[k];
    text += (k == 0 ? " " : ", ") + (o.is_broadcast ? "b" : o.is_memory ? "m" : "x" + std::to_string(o.number));
  }
  const std::string number = std::to_string(i.destination);
  constexpr const char* targets[] = {" to x", " to r", " to m", " to flags"};
  text += targets[static_cast<int>(i.target)];
  if (i.target == traps::Target::vector_register || i.target == traps::Target::general_register) text += number;
  if (i.mask != 0) text += " {k" + std::to_string(i.mask) + "}";
  return i.address.displacement == 0 ? text : text + " +" + std::to_string(i.address.displacement);
}

struct Code {
  const unsigned char* begin;
  const unsigned char* end;
  const char* text;
  const char* expected;
};

}  // namespace

// What is to be decoded, as AT&T's syntax has it, and what is to be found.
#define NANLENS_CODES(X)                                                                                  \
  X(a0, "divsd %xmm3, %xmm1", "divsd 1 float64 -> float64: x1, x3 to x1")                                 \
  X(a1, "vdivpd %ymm3, %ymm2, %ymm1", "vdivpd 4 x float64 -> float64: x2, x3 to x1")                      \
  X(a2, "vdivps 64(%rax), %zmm2, %zmm17", "vdivps 16 x float32 -> float32: x2, m to x17 +64")             \
  X(a3, "vdivpd 8(%rax){1to8}, %zmm2, %zmm1{%k3}", "vdivpd 8 x float64 -> float64: x2, b to x1 {k3} +8")  \
  X(a4, "sqrtps %xmm9, %xmm8", "sqrtps 4 x float32 -> float32: x9 to x8")                                 \
  X(a5, "vhaddpd %ymm3, %ymm2, %ymm1", "vhaddpd 4 x float64 -> float64: x2, x3 to x1")                    \
  X(a6, "addsubps %xmm3, %xmm1", "addsubps 4 x float32 -> float32: x1, x3 to x1")                         \
  X(a7, "dpps $255, %xmm3, %xmm1", "dpps 4 x float32 -> float32: x1, x3 to x1")                           \
  X(b0, "comisd %xmm3, %xmm1", "comisd 1 float64 -> float64: x1, x3 to flags")                            \
  X(b1, "vcmpltpd %ymm3, %ymm2, %ymm1", "vcmppd 4 x float64 -> float64: x2, x3 to x1")                    \
  X(b2, "vcmpltps %zmm3, %zmm2, %k1", "vcmpps 16 x float32 -> float32: x2, x3 to flags")                  \
  X(b3, "vcmpltph %zmm3, %zmm2, %k1", "vcmpph 32 x float16 -> float16: x2, x3 to flags")                  \
  X(b4, "vcmpltsh %xmm3, %xmm2, %k1", "vcmpsh 1 float16 -> float16: x2, x3 to flags")                     \
  X(b5, "vucomish %xmm3, %xmm2", "vucomish 1 float16 -> float16: x2, x3 to flags")                        \
  X(c0, "cvttsd2si %xmm3, %rdx", "cvttsd2si 1 float64 -> int64: x3 to r2")                                \
  X(c1, "vcvttsd2usi %xmm3, %r9", "vcvttsd2usi 1 float64 -> uint64: x3 to r9")                            \
  X(c2, "vcvttss2usi 12(%rax), %edx", "vcvttss2usi 1 float32 -> uint32: m to r2 +12")                     \
  X(c3, "vcvtss2usi %xmm3, %edx", "vcvtss2usi 1 float32 -> uint32: x3 to r2")                             \
  X(c4, "vcvttpd2udq %zmm3, %ymm1", "vcvttpd2udq 8 x float64 -> uint32: x3 to x1")                        \
  X(c5, "vcvttps2udq %ymm3, %ymm1", "vcvttps2udq 8 x float32 -> uint32: x3 to x1")                        \
  X(c6, "vcvttpd2uqq %zmm3, %zmm1", "vcvttpd2uqq 8 x float64 -> uint64: x3 to x1")                        \
  X(c7, "vcvttps2uqq 32(%rax), %zmm1", "vcvttps2uqq 8 x float32 -> uint64: m to x1 +32")                  \
  X(c8, "vcvttpd2qq %ymm3, %ymm1", "vcvttpd2qq 4 x float64 -> int64: x3 to x1")                           \
  X(c9, "vcvtps2qq %xmm3, %ymm1", "vcvtps2qq 4 x float32 -> int64: x3 to x1")                             \
  X(d0, "cvttps2dq %xmm3, %xmm1", "cvttps2dq 4 x float32 -> int32: x3 to x1")                             \
  X(d1, "vcvtpd2dq %ymm3, %xmm1", "vcvtpd2dq 4 x float64 -> int32: x3 to x1")                             \
  X(d2, "cvtsd2ss %xmm3, %xmm1", "cvtsd2ss 1 float64 -> float32: x3 to x1")                               \
  X(d3, "vcvtpd2ps %ymm3, %xmm1", "vcvtpd2ps 4 x float64 -> float32: x3 to x1")                           \
  X(d4, "vcvtps2ph $4, %ymm2, %xmm7", "vcvtps2ph 8 x float32 -> float16: x2 to x7")                       \
  X(d5, "vcvtps2ph $4, %ymm2, 4(%rax)", "vcvtps2ph 8 x float32 -> float16: x2 to m +4")                   \
  X(d6, "vcvtps2ph $4, %zmm2, 96(%rax)", "vcvtps2ph 16 x float32 -> float16: x2 to m +96")                \
  X(d7, "vcvtph2ps %xmm3, %ymm1", "vcvtph2ps 8 x float16 -> float32: x3 to x1")                           \
  X(e0, "vfmadd132sd %xmm3, %xmm2, %xmm1", "vfmadd132sd 1 float64 -> float64: x1, x3, x2 to x1")          \
  X(e1, "vfmadd213ps %ymm3, %ymm2, %ymm1", "vfmadd213ps 8 x float32 -> float32: x2, x1, x3 to x1")        \
  X(e2, "vfnmsub231pd (%rax), %zmm2, %zmm1", "vfnmsub231pd 8 x float64 -> float64: x2, m, x1 to x1")      \
  X(e3, "vfmaddsub231ph %zmm3, %zmm2, %zmm1", "vfmaddsub231ph 32 x float16 -> float16: x2, x3, x1 to x1") \
  X(e4, "vfmadd231sh %xmm3, %xmm2, %xmm1", "vfmadd231sh 1 float16 -> float16: x2, x3, x1 to x1")          \
  X(f0, "vdivph %ymm3, %ymm2, %ymm1", "vdivph 16 x float16 -> float16: x2, x3 to x1")                     \
  X(f1, "vmulsh 2(%rax), %xmm2, %xmm1", "vmulsh 1 float16 -> float16: x2, m to x1 +2")                    \
  X(f2, "vsqrtph %zmm3, %zmm1", "vsqrtph 32 x float16 -> float16: x3 to x1")                              \
  X(f3, "vcvtss2sh %xmm3, %xmm2, %xmm1", "vcvtss2sh 1 float32 -> float16: x3 to x1")                      \
  X(f4, "vcvtps2phx %zmm3, %ymm1", "vcvtps2phx 16 x float32 -> float16: x3 to x1")                        \
  X(f5, "vcvtsd2sh %xmm3, %xmm2, %xmm1", "vcvtsd2sh 1 float64 -> float16: x3 to x1")                      \
  X(f6, "vcvtph2pd %xmm3, %zmm1", "vcvtph2pd 8 x float16 -> float64: x3 to x1")                           \
  X(f7, "vcvtsh2ss %xmm3, %xmm2, %xmm1", "vcvtsh2ss 1 float16 -> float32: x3 to x1")                      \
  X(f8, "vcvtsi2sh %edx, %xmm2, %xmm1", "vcvtsi2sh 1 int64 -> float16: to x1")                            \
  X(f9, "vcvtdq2ph %zmm3, %ymm1", "vcvtdq2ph 16 x int32 -> float16: x3 to x1")                            \
  X(g0, "vcvtuqq2ph %zmm3, %xmm1", "vcvtuqq2ph 8 x uint64 -> float16: x3 to x1")                          \
  X(g1, "vcvttsh2usi %xmm3, %edx", "vcvttsh2usi 1 float16 -> uint32: x3 to r2")                           \
  X(g2, "vcvttph2w %zmm3, %zmm1", "vcvttph2w 32 x float16 -> int16: x3 to x1")                            \
  X(g3, "vcvtph2uw %xmm3, %xmm1", "vcvtph2uw 8 x float16 -> uint16: x3 to x1")                            \
  X(g4, "vcvttph2dq %ymm3, %zmm1", "vcvttph2dq 16 x float16 -> int32: x3 to x1")                          \
  X(g5, "vcvtph2uqq %xmm3, %zmm1", "vcvtph2uqq 8 x float16 -> uint64: x3 to x1")                          \
  X(g6, "vcvtuw2ph %zmm3, %zmm1", "vcvtuw2ph 32 x uint16 -> float16: x3 to x1")                           \
  X(h0, "vscalefpd %zmm3, %zmm2, %zmm1", "vscalefpd 8 x float64 -> float64: x2, x3 to x1")                \
  X(h1, "vgetexpps %zmm3, %zmm1", "vgetexpps 16 x float32 -> float32: x3 to x1")                          \
  X(h2, "vgetmantsd $4, %xmm3, %xmm2, %xmm1", "vgetmantsd 1 float64 -> float64: x3 to x1")                \
  X(h3, "vreducepd $4, %zmm3, %zmm1", "vreducepd 8 x float64 -> float64: x3 to x1")                       \
  X(h4, "vrangeps $4, %zmm3, %zmm2, %zmm1", "vrangeps 16 x float32 -> float32: x2, x3 to x1")             \
  X(h5, "vfixupimmpd $4, %zmm3, %zmm2, %zmm1", "vfixupimmpd 8 x float64 -> float64: x2 to x1")            \
  X(h6, "vrndscaleph $4, %zmm3, %zmm1", "vrndscaleph 32 x float16 -> float16: x3 to x1")                  \
  X(h7, "roundsd $4, %xmm3, %xmm1", "roundsd 1 float64 -> float64: x3 to x1")                             \
  X(h8, "vscalefsh %xmm3, %xmm2, %xmm1", "vscalefsh 1 float16 -> float16: x2, x3 to x1")

#define NANLENS_ASSEMBLE(id, text, expected)          \
  extern "C" const unsigned char nanlens_code_##id[]; \
  extern "C" const unsigned char nanlens_end_##id[];  \
  asm(".pushsection .rodata\nnanlens_code_" #id ":\n" text "\nnanlens_end_" #id ":\n.byte 0\n.popsection");
NANLENS_CODES(NANLENS_ASSEMBLE)

TEST_CASE("instructions are what the assembler made them of") {
#define NANLENS_CODE(id, text, expected) {nanlens_code_##id, nanlens_end_##id, text, expected},
  const Code codes[] = {NANLENS_CODES(NANLENS_CODE)};
  for (const Code& code : codes) {
    CAPTURE(code.text);
    traps::Instruction i;
    CHECK(traps::decode(code.begin, i));
    CHECK(described(i) == code.expected);
    CHECK(i.length == code.end - code.begin);
  }
}

TEST_CASE("a product of vectors is more than a sum of neighbours: what is invalid about it can't be told") {
  traps::Instruction i;
  REQUIRE(traps::decode(nanlens_code_a7, i));
  CHECK(i.action == traps::Action::unknown);
  REQUIRE(traps::decode(nanlens_code_a5, i));
  CHECK(i.action == traps::Action::horizontal);
}

#undef NANLENS_CODE
#undef NANLENS_ASSEMBLE
#undef NANLENS_CODES
