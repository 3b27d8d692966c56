#include "platform.hpp"

#include <emscripten.h>
#include <emscripten/html5.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "imgui.h"
#include "widgets/key_names.hpp"

// clang-format off
EM_JS_DEPS(nanlens_platform, "$UTF8ToString,$stringToUTF8,$lengthBytesUTF8");
EM_JS(void, nl_js_copy, (const char* text), { nlPage.copy(UTF8ToString(text)); });
EM_JS(void, nl_js_caret, (float x, float y, float h), { nlPage.caret(x, y, h); });
EM_JS(void, nl_js_cursor, (const char* name), { nlPage.cursor(UTF8ToString(name)); });
EM_JS(double, nl_js_pixel_ratio, (), { return devicePixelRatio || 1; });
// clang-format on

namespace nanlens::page {

namespace {

std::string clipboard;

void copy_from_imgui(ImGuiContext*, const char* text) { copy(text); }
const char* paste_to_imgui(ImGuiContext*) { return clipboard.c_str(); }
void place_caret(ImGuiContext*, ImGuiViewport*, ImGuiPlatformImeData* data) {
  nl_js_caret(data->InputPos.x, data->InputPos.y, data->InputLineHeight);
}

// With every event: a key that was released elsewhere must not stay down.
void set_modifiers(int modifiers) {
  ImGuiIO& io = ImGui::GetIO();
  io.AddKeyEvent(ImGuiMod_Ctrl, (modifiers & 1) != 0);
  io.AddKeyEvent(ImGuiMod_Shift, (modifiers & 2) != 0);
  io.AddKeyEvent(ImGuiMod_Alt, (modifiers & 4) != 0);
  io.AddKeyEvent(ImGuiMod_Super, (modifiers & 8) != 0);
}

bool create_context() {
  EmscriptenWebGLContextAttributes attributes;
  emscripten_webgl_init_context_attributes(&attributes);
  attributes.majorVersion = 2;
  attributes.minorVersion = 0;
  attributes.antialias = false;
  attributes.depth = false;
  attributes.stencil = false;
  attributes.alpha = false;
  attributes.powerPreference = EM_WEBGL_POWER_PREFERENCE_LOW_POWER;
  const auto context = emscripten_webgl_create_context("#canvas", &attributes);
  return context > 0 && emscripten_webgl_make_context_current(context) == EMSCRIPTEN_RESULT_SUCCESS;
}

}  // namespace

void copy(const std::string& text) {
  clipboard = text;
  nl_js_copy(text.c_str());
}

bool start_platform() {
  if (!create_context()) return false;
  ImGuiIO& io = ImGui::GetIO();
  io.BackendPlatformName = "nanlens page";
  io.BackendFlags |= ImGuiBackendFlags_HasMouseCursors;
  ImGuiPlatformIO& platform = ImGui::GetPlatformIO();
  platform.Platform_GetClipboardTextFn = paste_to_imgui;
  platform.Platform_SetClipboardTextFn = copy_from_imgui;
  platform.Platform_SetImeDataFn = place_caret;
  return true;
}

void begin_frame(double now, int& width, int& height) {
  double css_width = 0;
  double css_height = 0;
  emscripten_get_element_css_size("#canvas", &css_width, &css_height);
  const double ratio = nl_js_pixel_ratio();
  width = static_cast<int>(std::lround(css_width * ratio));
  height = static_cast<int>(std::lround(css_height * ratio));
  int canvas_width = 0;
  int canvas_height = 0;
  emscripten_get_canvas_element_size("#canvas", &canvas_width, &canvas_height);
  if (canvas_width != width || canvas_height != height) emscripten_set_canvas_element_size("#canvas", width, height);
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(css_width), static_cast<float>(css_height)};
  io.DisplayFramebufferScale = {static_cast<float>(ratio), static_cast<float>(ratio)};
  static double last = 0;
  io.DeltaTime = static_cast<float>(std::clamp(now - last, 1e-4, 0.5));
  last = now;
  static int shown = -1;
  const int cursor = ImGui::GetMouseCursor();
  if (cursor != shown) {
    shown = cursor;
    constexpr std::array names = {"default",     "text",    "move", "ns-resize", "ew-resize",  "nesw-resize",
                                  "nwse-resize", "pointer", "wait", "progress",  "not-allowed"};
    nl_js_cursor(cursor >= 0 && static_cast<std::size_t>(cursor) < names.size()
                     ? names[static_cast<std::size_t>(cursor)]
                     : "default");
  }
}

extern "C" {
EMSCRIPTEN_KEEPALIVE void nl_mouse(double x, double y) {
  ImGui::GetIO().AddMousePosEvent(static_cast<float>(x), static_cast<float>(y));
}
EMSCRIPTEN_KEEPALIVE void nl_button(int button, int down, int modifiers) {
  constexpr std::array order = {0, 2, 1, 3, 4};  // the browser's second button is the middle one
  set_modifiers(modifiers);
  if (button >= 0 && static_cast<std::size_t>(button) < order.size())
    ImGui::GetIO().AddMouseButtonEvent(order[static_cast<std::size_t>(button)], down != 0);
}
EMSCRIPTEN_KEEPALIVE void nl_wheel(double x, double y, int modifiers) {
  set_modifiers(modifiers);
  ImGui::GetIO().AddMouseWheelEvent(static_cast<float>(x), static_cast<float>(y));
}
EMSCRIPTEN_KEEPALIVE void nl_key(const char* code, int down, int modifiers) {
  set_modifiers(modifiers);
  if (const ImGuiKey key = viewer::key_of(code); key != ImGuiKey_None) ImGui::GetIO().AddKeyEvent(key, down != 0);
}
EMSCRIPTEN_KEEPALIVE void nl_text(const char* text) { ImGui::GetIO().AddInputCharactersUTF8(text); }
EMSCRIPTEN_KEEPALIVE void nl_paste(const char* text) {
  clipboard = text;
  ImGuiIO& io = ImGui::GetIO();
  io.AddKeyEvent(ImGuiMod_Ctrl, true);
  io.AddKeyEvent(ImGuiKey_V, true);
  io.AddKeyEvent(ImGuiKey_V, false);
  io.AddKeyEvent(ImGuiMod_Ctrl, false);
}
EMSCRIPTEN_KEEPALIVE const char* nl_clipboard() { return clipboard.c_str(); }
EMSCRIPTEN_KEEPALIVE void nl_focus(int focused) { ImGui::GetIO().AddFocusEvent(focused != 0); }
}

}  // namespace nanlens::page
