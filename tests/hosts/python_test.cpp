// The frames of a Python 3.12, which this machine need not have: its structs are laid out here, and its functions by
// which nanlens finds that layout out are this test's own.
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <nanlens/hosts/python/frame_layout.hpp>
#include <nanlens/hosts/python/walk.hpp>

using namespace nanlens;

namespace {

using Words = std::array<std::uintptr_t, 64>;

std::uintptr_t address(const void* object) { return reinterpret_cast<std::uintptr_t>(object); }

// As the interpreter keeps a frame, and the object that its functions give for it.
struct FakeFrame {
  Words object{};
  Words inner{};
  const FakeFrame* back = nullptr;  // as Python's functions tell it
};

// Where the fields of 3.12 are, in words.
constexpr std::size_t code_of = 0, previous = 1, globals_of = 3, instruction = 7, first_local = 9;
constexpr std::size_t instructions_in_code = 192;  // in bytes
constexpr std::size_t executed = 6;
constexpr std::size_t size_of_code = 10;  // in instructions of two bytes

struct FakePython {
  Words state{};
  Words current{};
  std::array<Words, 4> codes{};
  std::array<FakeFrame, 4> frames;  // outermost first
  Words globals{};
  Words local{};
  Words text{};
};

FakePython fake;

}  // namespace

extern "C" {
[[gnu::visibility("default")]] Words PyCode_Type{};
[[gnu::visibility("default")]] int Py_IsInitialized() { return 1; }
[[gnu::visibility("default")]] void* PyGILState_GetThisThreadState() { return fake.state.data(); }
[[gnu::visibility("default")]] void* PyEval_GetFrame() { return fake.frames.back().object.data(); }
[[gnu::visibility("default")]] void* PyFrame_GetBack(void* object) {
  for (FakeFrame& frame : fake.frames)
    if (frame.object.data() == object)
      return frame.back == nullptr ? nullptr : const_cast<std::uintptr_t*>(frame.back->object.data());
  return nullptr;
}
[[gnu::visibility("default")]] void* PyFrame_GetCode(void* object) {
  for (const FakeFrame& frame : fake.frames)
    if (frame.object.data() == object) return reinterpret_cast<void*>(frame.inner[code_of]);
  return nullptr;
}
[[gnu::visibility("default")]] int PyFrame_GetLasti(void* /*frame*/) { return executed; }
[[gnu::visibility("default")]] void* PyFrame_GetGlobals(void* /*frame*/) { return fake.globals.data(); }
[[gnu::visibility("default")]] void* PyObject_GetAttrString(void* /*object*/, const char* name) {
  constexpr std::string_view names[] = {"co_consts", "co_filename", "co_qualname", "co_linetable"};
  for (std::size_t i = 0; i < std::size(names); ++i)
    if (names[i] == name) return &fake.text[i];
  return nullptr;
}
[[gnu::visibility("default")]] int PyCode_Addr2Line(void* /*code*/, int offset) { return 100 + offset; }
[[gnu::visibility("default")]] void PyErr_Clear() {}
[[gnu::visibility("default")]] void Py_DecRef(void* /*object*/) {}
}

namespace {

// A module whose function a C function calls, which calls another; `leads_in`: the frame before it leads from C to it.
void lay_out(bool leads_in) {
  fake = FakePython{};
  FakeFrame* before = nullptr;
  const FakeFrame* told = nullptr;
  for (std::size_t i = 0; i < fake.frames.size(); ++i) {
    FakeFrame& frame = fake.frames[i];
    Words& code = fake.codes[i];
    const bool is_between = i == 1;
    if (is_between && !leads_in) continue;
    code[1] = address(&PyCode_Type);
    code[2] = size_of_code;
    for (std::size_t k = 0; k < 4; ++k) code[10 + k] = address(&fake.text[k]);
    frame.object[3] = address(frame.inner.data());
    frame.inner[code_of] = address(code.data());
    frame.inner[previous] = before == nullptr ? 0 : address(before->inner.data());
    // What leads in has neither globals nor variables: what was in memory before.
    frame.inner[globals_of] = is_between ? 0xaaaaaaaaaaaaaaaa : address(fake.globals.data());
    frame.inner[instruction] = address(code.data()) + instructions_in_code + executed;
    frame.inner[first_local] = address(fake.local.data());
    frame.back = told;
    before = &frame;
    if (!is_between) told = &frame;
  }
  fake.current[0] = address(fake.frames.back().inner.data());
  fake.state[8] = address(fake.current.data());
}

std::vector<std::uintptr_t> walked_codes() {
  const python::FrameLayout layout = python::find_layout(address(fake.local.data()));
  REQUIRE(layout.complete());
  python::Walk walked;
  python::walk(layout, fake.state.data(), walked);
  std::vector<std::uintptr_t> codes;
  for (std::size_t i = 0; i < walked.size; ++i) codes.push_back(walked.frames[i].code);
  return codes;
}

}  // namespace

TEST_CASE("Frames that only lead from C to a function of Python are passed over") {
  lay_out(true);
  const python::FrameLayout layout = python::find_layout(address(fake.local.data()));
  CHECK(layout.between == address(fake.codes[1].data()));
  CHECK(layout.globals == static_cast<int>(globals_of));
  CHECK(layout.locals == static_cast<int>(first_local));
  CHECK(walked_codes() ==
        std::vector{address(fake.codes[3].data()), address(fake.codes[2].data()), address(fake.codes[0].data())});
}

TEST_CASE("Where there are none, no frame is passed over") {
  lay_out(false);
  CHECK(python::find_layout(address(fake.local.data())).between == 0);
  CHECK(walked_codes().size() == 3);
}

TEST_CASE("Instructions that are not those of the code object have no line") {
  lay_out(false);
  const python::FrameLayout layout = python::find_layout(address(fake.local.data()));
  const std::uintptr_t code = address(fake.codes[0].data());
  const auto line_at = [&](std::uintptr_t at) { return python::line_of(layout, {0, code, at}); };
  const std::uintptr_t begin = code + instructions_in_code;
  CHECK(line_at(begin - 2) == 98);
  CHECK(line_at(begin + executed) == 100 + executed);
  CHECK(line_at(begin + 2 * size_of_code) == 0);
  CHECK(line_at(begin - 4) == 0);
  CHECK(line_at(address(fake.local.data())) == 0);
}
