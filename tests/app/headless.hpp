/// @file
/// The viewer without a window: App and engine together, driven as a user drives them. Time is a number that only the
/// test moves; nothing sleeps and nothing is drawn.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/app.hpp"
#include "app/json_text.hpp"
#include "engine/engine.hpp"
#include "report/rules_files.hpp"

namespace nanlens::test {

using viewer::Json;

/// Files in memory that may grow while an engine, perhaps in another thread, has them open.
class GrowingFiles {
 public:
  void append(const std::string& name, const std::string& bytes);
  /// Every read takes at least this long from now on.
  void slow_down(std::chrono::milliseconds least);
  [[nodiscard]] std::unique_ptr<reader::Storage> storage() const;

 private:
  struct Contents {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<std::string>> files;
    std::chrono::milliseconds least{0};
  };
  class Source;
  class Storage;
  std::shared_ptr<Contents> contents_ = std::make_shared<Contents>();
};

/// Where requests go and answers come from: an engine in this thread, or one in a thread of its own.
class EngineLink {
 public:
  EngineLink() = default;
  EngineLink(const EngineLink&) = delete;
  EngineLink& operator=(const EngineLink&) = delete;
  virtual ~EngineLink() = default;
  virtual void send(viewer::Request request) = 0;
  /// Answers that there are; waits for some if there are none.
  virtual std::vector<viewer::Reply> work() = 0;
};

struct HeadlessOptions {
  float width = 1280;
  float height = 720;
  bool threaded = false;  ///< the engine in the desktop's thread
  bool cjk = false;       ///< Chinese, Japanese and Korean characters are as wide as a system's fonts have them
};

class Headless {
 public:
  explicit Headless(const HeadlessOptions& options = {});
  Headless(const Headless&) = delete;
  Headless& operator=(const Headless&) = delete;
  ~Headless();

  /// Paths that start with "memory:" mean these.
  std::map<std::string, GrowingFiles> memory;
  std::vector<std::string> links;  ///< as the page's hash got them
  std::vector<std::string> told;   ///< to a screen reader
  std::string copied;
  std::string settings;
  std::map<std::string, std::string> saved;  ///< lists by name
  std::vector<std::string> pictures;
  int picks = 0;
  bool has_quit = false;
  std::function<void()> after_frame;                           ///< sees every frame, not only the last one
  std::function<std::vector<report::RulesFile>()> find_rules;  ///< in place of those in the logdir

  [[nodiscard]] viewer::App& app() { return *app_; }
  /// Opens what was dropped or named, and waits until it is read and shown.
  void open(std::vector<std::string> paths);
  void open(const std::string& path) { open(std::vector<std::string>{path}); }
  /// A sixtieth of a second passes.
  void frame();
  /// Draws and answers until there is nothing left to do.
  void settle();
  /// Lets time pass, with the frames that are due in it.
  void pass(double seconds);
  /// Looks whether what is open has grown, as the desktop does every now and then.
  void look_again();
  viewer::Result command(const char* name, const Json& arguments = Json::object());
  [[nodiscard]] Json state();
  /// Everything in `state` that does not change by itself.
  [[nodiscard]] Json lasting_state();

  [[nodiscard]] bool shows(const std::string& id) const { return app_->ui.rects.contains(id); }
  [[nodiscard]] viewer::Rect rect(const std::string& id) const;
  [[nodiscard]] ImVec2 point(const std::string& id, float fx = 0.5f, float fy = 0.5f) const;
  void hover(ImVec2 at);
  /// A click whose button is down for so many milliseconds; at 0, moving, pressing and letting go come at once.
  void click_at(ImVec2 at, double hold_ms = 80, int button = 0);
  void click(const std::string& id, double hold_ms = 80, int button = 0) { click_at(point(id), hold_ms, button); }
  void double_click(const std::string& id);
  void drag(ImVec2 from, ImVec2 to);
  void wheel(ImVec2 at, float x, float y, bool control = false);
  /// "Ctrl+Shift+p", "ArrowDown", "?": keys with their characters.
  void key(const std::string& chord);
  /// A key that is down for so long, without Shift or Ctrl and without what it types.
  void hold(ImGuiKey key, double seconds);
  void keys(std::initializer_list<const char*> chords);
  void type(const std::string& text);
  void resize(float width, float height);

 private:
  [[nodiscard]] bool events_wait() const;
  viewer::Platform platform();

  ImGuiContext* context_;
  std::unique_ptr<EngineLink> engine_;
  std::unique_ptr<viewer::App> app_;
  double now_ = 1000;
  double last_frame_ = 999;
};

/// What an id on screen stands for, without its numbers: of a hundred rows, one is tried.
std::string kind_of(const std::string& id);
/// A logdir of the real TensorFlow (tests/interop/golden).
std::string golden(const std::string& name);
/// The walkthrough of examples/mnist, recorded by this build: 600 rows, of which row 88 is the first bad one.
std::string walkthrough();

}  // namespace nanlens::test
