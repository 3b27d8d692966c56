#include "headless.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

#include <nanlens/archive/archive.hpp>

#include "desktop/engine_thread.hpp"
#include "imgui.h"
#include "imgui_internal.h"
#include "widgets/fonts.hpp"
#include "widgets/key_names.hpp"

namespace nanlens::test {

class GrowingFiles::Source final : public reader::ByteSource {
 public:
  Source(std::shared_ptr<Contents> contents, std::shared_ptr<std::string> bytes)
      : contents_(std::move(contents)), bytes_(std::move(bytes)) {}
  std::uint64_t size() override {
    const std::lock_guard lock(contents_->mutex);
    return bytes_->size();
  }
  std::size_t read(std::uint64_t offset, unsigned char* to, std::size_t count) override {
    const std::lock_guard lock(contents_->mutex);
    std::this_thread::sleep_for(contents_->least);
    if (offset >= bytes_->size()) return 0;
    const std::size_t n = std::min(count, bytes_->size() - static_cast<std::size_t>(offset));
    std::memcpy(to, bytes_->data() + offset, n);
    return n;
  }
  std::string error() override { return {}; }

 private:
  std::shared_ptr<Contents> contents_;
  std::shared_ptr<std::string> bytes_;
};

class GrowingFiles::Storage final : public reader::Storage {
 public:
  explicit Storage(std::shared_ptr<Contents> contents) : contents_(std::move(contents)) {}
  std::vector<std::string> list(std::string_view /*prefix*/) override {
    const std::lock_guard lock(contents_->mutex);
    std::vector<std::string> names;
    for (const auto& [name, bytes] : contents_->files) names.push_back(name);
    return names;
  }
  std::unique_ptr<reader::ByteSource> open(const std::string& name, std::string& why) override {
    const std::lock_guard lock(contents_->mutex);
    const auto found = contents_->files.find(name);
    if (found != contents_->files.end()) return std::make_unique<Source>(contents_, found->second);
    why = "there is no such file";
    return nullptr;
  }

 private:
  std::shared_ptr<Contents> contents_;
};

void GrowingFiles::append(const std::string& name, const std::string& bytes) {
  const std::lock_guard lock(contents_->mutex);
  auto& file = contents_->files[name];
  if (file == nullptr) file = std::make_shared<std::string>();
  *file += bytes;
}

void GrowingFiles::slow_down(std::chrono::milliseconds least) {
  const std::lock_guard lock(contents_->mutex);
  contents_->least = least;
}

std::unique_ptr<reader::Storage> GrowingFiles::storage() const { return std::make_unique<Storage>(contents_); }

namespace {

class SameThread final : public EngineLink {
 public:
  SameThread(viewer::OpenStorage open, viewer::FindRules find) : engine_(std::move(open), {}, std::move(find)) {}
  void send(viewer::Request request) override { requests_.push_back(std::move(request)); }
  std::vector<viewer::Reply> work() override {
    for (viewer::Request& request : std::exchange(requests_, {})) engine_.handle(std::move(request));
    engine_.step();
    return engine_.take_replies();
  }

 private:
  viewer::Engine engine_;
  std::vector<viewer::Request> requests_;
};

class OtherThread final : public EngineLink {
 public:
  OtherThread(viewer::OpenStorage open, viewer::FindRules find)
      : engine_(std::move(open), [this] { notify(); }, {}, std::move(find)) {}
  void send(viewer::Request request) override { engine_.send(std::move(request)); }
  std::vector<viewer::Reply> work() override {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return news_; });
    news_ = false;
    lock.unlock();
    return engine_.receive();
  }

 private:
  void notify() {
    const std::lock_guard lock(mutex_);
    news_ = true;
    wake_.notify_one();
  }
  std::mutex mutex_;
  std::condition_variable wake_;
  bool news_ = false;
  viewer::EngineThread engine_;
};

constexpr double frame_time = 1.0 / 60;

// What a renderer would do about textures: nothing, but ImGui wants to be told.
void accept_textures() {
  for (ImTextureData* const texture : ImGui::GetPlatformIO().Textures) {
    if (texture->Status == ImTextureStatus_WantCreate || texture->Status == ImTextureStatus_WantUpdates) {
      texture->SetTexID(1);
      texture->SetStatus(ImTextureStatus_OK);
    } else if (texture->Status == ImTextureStatus_WantDestroy) {
      texture->SetTexID(ImTextureID_Invalid);
      texture->SetStatus(ImTextureStatus_Destroyed);
    }
  }
}

// "Escape", "F1", and characters: those that are keys of their own have one.
ImGuiKey named_key(const std::string& name) {
  if (name.size() > 1) {
    const ImGuiKey key = viewer::key_of(name);
    return key != ImGuiKey_None ? key : throw std::invalid_argument("no key is called " + name);
  }
  const char c = name[0];
  if (c >= 'a' && c <= 'z') return static_cast<ImGuiKey>(ImGuiKey_A + (c - 'a'));
  if (c >= '0' && c <= '9') return static_cast<ImGuiKey>(ImGuiKey_0 + (c - '0'));
  return c == '=' ? ImGuiKey_Equal : c == '-' ? ImGuiKey_Minus : ImGuiKey_None;
}

// As wide as they are high, as in every font of a system, in a line of which the letters take 0.86; nothing is drawn.
const ImFontLoader* wide_characters() {
  static const ImFontLoader loader = [] {
    ImFontLoader l;
    l.Name = "wide";
    l.FontSrcContainsGlyph = [](ImFontAtlas*, ImFontConfig*, ImWchar code) { return code >= 0x2e80; };
    l.FontBakedLoadGlyph = [](ImFontAtlas*, ImFontConfig*, ImFontBaked* baked, void*, ImWchar code, ImFontGlyph* glyph,
                              float* advance) {
      if (code < 0x2e80) return false;
      (advance != nullptr ? *advance : glyph->AdvanceX) = baked->Size * 0.86f;
      if (glyph != nullptr) glyph->Codepoint = code;
      return true;
    };
    return l;
  }();
  return &loader;
}

}  // namespace

Headless::Headless(const HeadlessOptions& options) : context_(ImGui::CreateContext()) {
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures | ImGuiBackendFlags_RendererHasVtxOffset;
  io.DisplaySize = {options.width, options.height};
  const viewer::OpenStorage open = [this](const std::string& path, std::string& why) {
    const auto found = memory.find(path);
    return found == memory.end() ? archive::open_path(path, why) : found->second.storage();
  };
  const viewer::FindRules find = [this](reader::Storage& storage, const std::string&) {
    return find_rules ? find_rules() : report::read_rules_in(storage);
  };
  if (options.threaded)
    engine_ = std::make_unique<OtherThread>(open, find);
  else
    engine_ = std::make_unique<SameThread>(open, find);
  app_ = std::make_unique<viewer::App>(platform());
  app_->now = now_;
  viewer::load_fonts(app_->ui, {}, options.cjk ? wide_characters() : nullptr);
  settle();
}

Headless::~Headless() {
  engine_.reset();
  app_.reset();
  viewer::set_tongue(viewer::Tongue::english);
  ImGui::DestroyContext(context_);
}

viewer::Platform Headless::platform() {
  viewer::Platform p;
  p.send = [this](viewer::Request request) { engine_->send(std::move(request)); };
  p.pick = [this](bool) { ++picks; };
  p.open_sample = [this] { app_->open({walkthrough()}); };
  p.copy = [this](const std::string& text) { copied = text; };
  p.save_list = [this](const std::string& name, const viewer::Exported& part) {
    if (part.first) saved[name].clear();
    saved[name] += part.text;
    return name;
  };
  p.set_link = [this](const std::string& link, bool) { links.push_back(link); };
  p.link_text = [](const std::string& link) { return "#" + link; };
  p.screenshot = [this](const std::string& path) { pictures.push_back(path); };
  p.save_settings = [this](const std::string& text) { settings = text; };
  p.quit = [this] { has_quit = true; };
  return p;
}

bool Headless::events_wait() const { return context_->InputEventsQueue.Size > 0; }

void Headless::frame() {
  now_ += frame_time;
  ImGui::GetIO().DeltaTime = static_cast<float>(now_ - last_frame_);
  last_frame_ = now_;
  ImGui::NewFrame();
  app_->frame(now_);
  ImGui::Render();
  accept_textures();
  if (std::string text = app_->announcement(); !text.empty()) told.push_back(std::move(text));
  if (after_frame) after_frame();
}

void Headless::settle() {
  constexpr int most = 200000;
  for (int round = 0; round < most; ++round) {
    if (app_->wants_frame(now_))
      frame();
    else if (app_->idle())
      return;
    else
      for (viewer::Reply& reply : engine_->work()) app_->receive(std::move(reply));
  }
  throw std::runtime_error("the viewer does not come to rest");
}

void Headless::pass(double seconds) {
  const double end = now_ + seconds;
  settle();
  for (double due = app_->next_frame_in(now_); due >= 0 && now_ + due <= end; due = app_->next_frame_in(now_)) {
    now_ += due;
    settle();
  }
  now_ = std::max(now_, end);
  settle();
}

void Headless::open(std::vector<std::string> paths) {
  app_->open(std::move(paths));
  settle();
}

void Headless::look_again() {
  engine_->send({0, viewer::Reload{.quiet = true}});
  for (viewer::Reply& reply : engine_->work()) app_->receive(std::move(reply));
  settle();
}

viewer::Result Headless::command(const char* name, const Json& arguments) {
  viewer::Result result = app_->command(name, arguments);
  settle();
  return result;
}

Json Headless::state() {
  // As text, since that is how everybody else gets it.
  return viewer::json_of(viewer::json_text(app_->state()));
}

Json Headless::lasting_state() {
  Json s = app_->state();  // as it is: to write and read it as text takes longer than all else
  for (const char* const name : {"toasts", "frame", "memory_bytes", "cut_texts"}) s.erase(name);
  return s;
}

viewer::Rect Headless::rect(const std::string& id) const {
  const auto found = app_->ui.rects.find(id);
  if (found == app_->ui.rects.end()) throw std::invalid_argument("nothing on screen is called " + id);
  return found->second;
}

ImVec2 Headless::point(const std::string& id, float fx, float fy) const {
  const viewer::Rect r = rect(id);
  return {r.x + r.w * fx, r.y + r.h * fy};
}

void Headless::hover(ImVec2 at) {
  ImGui::GetIO().AddMousePosEvent(at.x, at.y);
  app_->wake();
  settle();
}

void Headless::click_at(ImVec2 at, double hold_ms, int button) {
  ImGuiIO& io = ImGui::GetIO();
  io.AddMousePosEvent(at.x, at.y);
  if (hold_ms > 0) hover(at);
  io.AddMouseButtonEvent(button, true);
  app_->wake();
  if (hold_ms > 0) pass(hold_ms / 1000);
  io.AddMouseButtonEvent(button, false);
  app_->wake();
  settle();
}

void Headless::double_click(const std::string& id) {
  const ImVec2 at = point(id);
  click_at(at);
  click_at(at);
}

void Headless::drag(ImVec2 from, ImVec2 to) {
  ImGuiIO& io = ImGui::GetIO();
  hover(from);
  io.AddMouseButtonEvent(0, true);
  app_->wake();
  pass(0.05);
  constexpr int steps = 5;
  for (int i = 1; i <= steps; ++i) {
    const float share = static_cast<float>(i) / steps;
    hover({from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share});
  }
  io.AddMouseButtonEvent(0, false);
  app_->wake();
  settle();
}

void Headless::wheel(ImVec2 at, float x, float y, bool control) {
  ImGuiIO& io = ImGui::GetIO();
  hover(at);
  if (control) io.AddKeyEvent(ImGuiMod_Ctrl, true);
  io.AddMouseWheelEvent(x, y);
  app_->wake();
  settle();
  if (control) io.AddKeyEvent(ImGuiMod_Ctrl, false);
  app_->wake();
  settle();
}

void Headless::key(const std::string& chord) {
  ImGuiIO& io = ImGui::GetIO();
  const std::pair<const char*, std::pair<ImGuiKey, ImGuiKey>> modifiers[] = {
      {"Ctrl+", {ImGuiMod_Ctrl, ImGuiKey_LeftCtrl}},
      {"Shift+", {ImGuiMod_Shift, ImGuiKey_LeftShift}},
      {"Alt+", {ImGuiMod_Alt, ImGuiKey_LeftAlt}}};
  std::string name = chord;
  std::vector<ImGuiKey> held;
  bool types = true;
  for (const auto& [prefix, pair] : modifiers) {
    if (!name.starts_with(prefix) || name == prefix) continue;
    name = name.substr(std::strlen(prefix));
    held.push_back(pair.first);
    held.push_back(pair.second);
    types = types && pair.first == ImGuiMod_Shift;
  }
  const ImGuiKey key = named_key(name);
  for (const ImGuiKey k : held) io.AddKeyEvent(k, true);
  if (key != ImGuiKey_None) io.AddKeyEvent(key, true);
  // With Shift, letters and digits are other characters, of which none is a command.
  if (types && name.size() == 1 && held.empty()) io.AddInputCharactersUTF8(name.c_str());
  // No longer down than the frames that take it: held, it repeats, and where the engine is slow, what it asks for then
  // makes frames without an end.
  do frame();
  while (events_wait());
  if (key != ImGuiKey_None) io.AddKeyEvent(key, false);
  for (const ImGuiKey k : held) io.AddKeyEvent(k, false);
  app_->wake();
  settle();
}

void Headless::hold(ImGuiKey key, double seconds) {
  ImGui::GetIO().AddKeyEvent(key, true);
  for (const double end = now_ + seconds; now_ < end;) frame();
  ImGui::GetIO().AddKeyEvent(key, false);
  app_->wake();
  settle();
}
void Headless::keys(std::initializer_list<const char*> chords) {
  for (const char* const chord : chords) key(chord);
}

void Headless::type(const std::string& text) {
  ImGui::GetIO().AddInputCharactersUTF8(text.c_str());
  app_->wake();
  settle();
}

void Headless::resize(float width, float height) {
  ImGui::GetIO().DisplaySize = {width, height};
  app_->wake();
  settle();
}

std::string kind_of(const std::string& id) {
  std::string kind;
  for (const char c : id)
    if (c < '0' || c > '9') kind += c;
  return kind;
}

std::string golden(const std::string& name) { return std::string(NANLENS_GOLDEN_DIR) + "/" + name; }
std::string walkthrough() { return NANLENS_WALKTHROUGH; }

}  // namespace nanlens::test
