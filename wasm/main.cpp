// The page: the viewer on a canvas.
#include <GLES3/gl3.h>
#include <emscripten.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "app/app.hpp"
#include "app/json_text.hpp"
#include "canvas_font.hpp"
#include "engine/message.hpp"
#include "imgui.h"
#include "imgui_impl_opengl3.h"
#include "imgui_internal.h"
#include "platform.hpp"
#include "widgets/fonts.hpp"

// clang-format off
EM_JS(void, nl_js_send, (const char* bytes, int size), { nlPage.send(bytes, size); });
EM_JS(void, nl_js_restart, (), { nlPage.restart(); });
EM_JS(void, nl_js_pick, (int folder), { nlPage.pick(!!folder); });
EM_JS(int, nl_js_has_sample, (), { return nlPage.hasSample(); });
EM_JS(void, nl_js_open_sample, (), { nlPage.openSample(); });
EM_JS(void, nl_js_link, (const char* link, int new_entry), { nlPage.link(UTF8ToString(link), !!new_entry); });
EM_JS(void, nl_js_save_part, (const char* name, const char* text, int size, int first, int complete), {
  nlPage.savePart(UTF8ToString(name), HEAPU8.slice(text, text + size), !!first, !!complete);
});
EM_JS(void, nl_js_share, (const char* view), { nlPage.share(UTF8ToString(view)); });
EM_JS(char*, nl_js_share_name, (), { return stringToNewUTF8(nlPage.shareName()); });
EM_JS(void, nl_js_save, (const char* text), { nlPage.save(UTF8ToString(text)); });
EM_JS(void, nl_js_follow, (int on), { nlPage.follow(!!on); });
EM_JS(int, nl_js_can_follow, (), { return nlPage.canFollow(); });
EM_JS(int, nl_js_is_copy, (), { return nlPage.isCopy(); });
EM_JS(double, nl_js_heap, (), { return nlPage.heap(); });
EM_JS(void, nl_js_announce, (const char* text), { nlPage.announce(UTF8ToString(text)); });
EM_JS(void, nl_js_language, (const char* tag), { document.documentElement.lang = UTF8ToString(tag); });
EM_JS(void, nl_js_fail, (const char* text), { nlPage.fail(UTF8ToString(text)); });
EM_JS(void, nl_js_start, (), { nlPage.start(); });
EM_JS(char*, nl_js_link_text, (const char* link), { return stringToNewUTF8(nlPage.linkText(UTF8ToString(link))); });
EM_JS_DEPS(nanlens_main, "$stringToNewUTF8");
// clang-format on

namespace nanlens::page {

namespace {

using viewer::App;
using viewer::Json;
using viewer::json_text;
using viewer::Text;
using viewer::tr;

App* app = nullptr;

viewer::Platform make_platform() {
  viewer::Platform p;
  p.is_page = true;
  p.send = [](const viewer::Request& request) {
    // Memory that a worker has grown to comes back only with the worker.
    if (std::holds_alternative<viewer::Close>(request.what)) nl_js_restart();
    std::string bytes;
    viewer::write_message(request, bytes);
    nl_js_send(bytes.data(), static_cast<int>(bytes.size()));
  };
  p.pick = [](bool folder) { nl_js_pick(folder ? 1 : 0); };
  if (nl_js_has_sample() != 0) p.open_sample = [] { nl_js_open_sample(); };
  p.copy = copy;
  p.set_link = [](const std::string& link, bool new_entry) { nl_js_link(link.c_str(), new_entry ? 1 : 0); };
  p.link_text = [](const std::string& link) {
    char* const text = nl_js_link_text(link.c_str());
    std::string out = text;
    std::free(text);
    return out;
  };
  p.save_list = [](const std::string& name, const viewer::Exported& part) {
    nl_js_save_part(name.c_str(), part.text.data(), static_cast<int>(part.text.size()), part.first ? 1 : 0,
                    part.complete ? 1 : 0);
    return name;
  };
  p.share = [](const viewer::ShareWish& wish) {
    nl_js_share(wish.view.c_str());
    return std::string();
  };
  p.share_place = [] {
    char* const text = nl_js_share_name();
    std::string out = text;
    std::free(text);
    return out;
  };
  p.save_settings = [](const std::string& text) { nl_js_save(text.c_str()); };
  p.follow = [](bool on) {
    nl_js_follow(on ? 1 : 0);
    app->platform.can_follow = nl_js_can_follow() != 0;
    app->platform.is_copy = nl_js_is_copy() != 0;
  };
  p.memory_bytes = [] { return nl_js_heap(); };
  return p;
}

// What a screen reader is told: the verdict once, then each selection; and in which language. That decides on the shape
// of a Chinese character, too: those drawn for another language are forgotten.
void announce() {
  if (const std::string text = app->announcement(); !text.empty()) nl_js_announce(text.c_str());
  static viewer::Tongue told = viewer::Tongue::english;
  if (viewer::tongue() == told) return;
  told = viewer::tongue();
  for (ImFont* const font : {app->ui.sans, app->ui.mono}) ImFontAtlasFontDiscardBakes(font->OwnerAtlas, font, 0);
  app->wake(2);
  nl_js_language(viewer::tongue_tags[static_cast<std::size_t>(told)]);
}

}  // namespace

extern "C" {

// Draws; returns when the next frame is due, in seconds: 0 at once, negative only after an event.
EMSCRIPTEN_KEEPALIVE double nl_frame(double now) {
  int width = 0;
  int height = 0;
  ImGui_ImplOpenGL3_NewFrame();
  begin_frame(now, width, height);
  ImGui::NewFrame();
  app->frame(now);
  ImGui::Render();
  glViewport(0, 0, width, height);
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  announce();
  const double due = app->next_frame_in(now);
  constexpr double caret = 0.5;
  return due < 0 && ImGui::GetIO().WantTextInput ? caret : due;
}

EMSCRIPTEN_KEEPALIVE void nl_wake(int frames) { app->wake(frames); }
EMSCRIPTEN_KEEPALIVE void nl_leave() { app->save_settings(); }
EMSCRIPTEN_KEEPALIVE int nl_idle() { return app->idle() ? 1 : 0; }
EMSCRIPTEN_KEEPALIVE void nl_prepare_open() { app->prepare_open(); }
EMSCRIPTEN_KEEPALIVE int nl_wants_source(const char* name) { return app->wants_source(name) ? 1 : 0; }
EMSCRIPTEN_KEEPALIVE void nl_give_source(const char* text) { app->give_source(text); }
EMSCRIPTEN_KEEPALIVE void nl_open(const char* name) { app->open({name}); }
EMSCRIPTEN_KEEPALIVE void nl_reply(const char* bytes, int size) {
  viewer::Reply reply;
  if (viewer::read_message(bytes, static_cast<std::size_t>(size), reply)) app->receive(std::move(reply));
}
EMSCRIPTEN_KEEPALIVE void nl_shared(const char* text, int ok) { app->shared(ok != 0, text); }
EMSCRIPTEN_KEEPALIVE const char* nl_command(const char* name, const char* arguments) {
  static std::string answer;
  const Json parsed = viewer::json_of(arguments);
  const viewer::Result result =
      parsed.is_discarded() ? viewer::Result{false, "The arguments are no JSON."} : app->command(name, parsed);
  Json out = {{"ok", result.ok}};
  if (!result.message.empty()) out["message"] = result.message;
  answer = json_text(out);
  return answer.c_str();
}
EMSCRIPTEN_KEEPALIVE const char* nl_state() {
  static std::string text;
  text = json_text(app->state());
  return text.c_str();
}
EMSCRIPTEN_KEEPALIVE const char* nl_rects() {
  static std::string text;
  text = json_text(app->rects());
  return text.c_str();
}
EMSCRIPTEN_KEEPALIVE void nl_apply_link(const char* link) { app->apply_link(link); }
EMSCRIPTEN_KEEPALIVE void nl_apply_settings(const char* text) { app->apply_settings(text); }
EMSCRIPTEN_KEEPALIVE void nl_system_theme(int dark, int contrast) { app->set_system_theme(dark != 0, contrast != 0); }
// Tags in the order in which they are liked, with commas between.
EMSCRIPTEN_KEEPALIVE void nl_system_languages(const char* tags) {
  std::string_view rest = tags;
  for (std::size_t length = 0; !rest.empty(); rest.remove_prefix(std::min(length + 1, rest.size()))) {
    length = std::min(rest.find(','), rest.size());
    if (const auto tongue = viewer::tongue_of(rest.substr(0, length))) return app->set_system_tongue(*tongue);
  }
  app->set_system_tongue(viewer::Tongue::english);
}
EMSCRIPTEN_KEEPALIVE int nl_takes_tab(int backwards) { return app->takes_tab(backwards != 0) ? 1 : 0; }
EMSCRIPTEN_KEEPALIVE void nl_touch(int on) { app->touch = on != 0; }
EMSCRIPTEN_KEEPALIVE void nl_error(const char* text) {
  app->overview = {};
  app->overview.error = text;
  app->wake();
}
EMSCRIPTEN_KEEPALIVE void nl_context_restored() {
  ImGui_ImplOpenGL3_DestroyDeviceObjects();
  app->toast(tr(Text::graphics_restored));
}

}  // extern "C"

}  // namespace nanlens::page

// In the worker main() is not called.
int main() {
  using namespace nanlens;
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  if (!page::start_platform()) {
    nl_js_fail(
        "This browser has no WebGL2, which nanlens needs. Try a current Firefox or Chromium, or the desktop viewer.");
    return 1;
  }
  ImGui_ImplOpenGL3_Init("#version 300 es");
  page::app = new viewer::App(page::make_platform());  // lives as long as the page
  viewer::load_fonts(page::app->ui, {}, page::canvas_font_loader());
  nl_js_start();
  return 0;
}
