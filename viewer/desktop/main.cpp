// The desktop viewer.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <CLI/CLI.hpp>

#include <nanlens/version.hpp>

#include <nanlens/archive/archive.hpp>

#include "app/app.hpp"
#include "app/json_text.hpp"
#include "engine_thread.hpp"
#include "picture.hpp"
#include "report/mutes_files.hpp"
#include "report/rules_files.hpp"
#include "report/view_link.hpp"
#include "settings.hpp"
#include "sharing.hpp"
#include "widgets/fonts.hpp"
#include "window.hpp"

namespace nanlens::viewer {
namespace {

struct Options {
  std::vector<std::string> paths;
  std::string state_file;
  std::string view;
  int width = 1280;
  int height = 800;
  std::string theme;
  std::string language;
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double resident_bytes() {
  long pages = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    long all = 0;
    if (std::fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
    std::fclose(file);
  }
  return static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

// The sample lies beside the program: bin/../share/nanlens. "" if it does not.
std::string find_sample() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto path = program.parent_path().parent_path() / "share/nanlens/sample.nanlens";
  return std::filesystem::is_regular_file(path, error) ? path.string() : "";
}

// A logdir to open, or the source file that the open one lacks.
void take_dropped(App& app, std::vector<std::string> paths) {
  constexpr std::uintmax_t most = 32 << 20;  // bytes of a source file
  std::error_code error;
  if (paths.size() == 1 && app.wants_source(paths.front()) &&
      std::filesystem::file_size(paths.front(), error) <= most && !error) {
    std::ifstream file(paths.front(), std::ios::binary);
    app.give_source({std::istreambuf_iterator<char>(file), {}});
    return;
  }
  app.open(std::move(paths));
}

// The state file holds what tests read; it is replaced only if more than the frame number has changed.
class StateFile {
 public:
  explicit StateFile(std::string path) : path_(std::move(path)) {}
  void write(const App& app) {
    if (path_.empty() || !app.idle()) return;
    Json state = app.state();
    Json compared = {{"state", state}, {"rects", app.rects()}};
    compared["state"].erase("frame");
    compared["state"].erase("memory_bytes");
    std::string text = json_text(compared);
    if (text == last_) return;
    last_ = std::move(text);
    const Json whole = {{"state", std::move(state)}, {"rects", app.rects()}};
    if (!replace_file(path_, json_text(whole)))
      std::fprintf(stderr, "nanlens-viewer: can't write '%s'\n", path_.c_str());
  }

 private:
  std::string path_;
  std::string last_;
};

/// The window, the engine's thread and the viewer between them.
class Desktop {
 public:
  explicit Desktop(const Options& options);
  void run();

 private:
  [[nodiscard]] Platform platform();
  [[nodiscard]] bool grows() const {
    return following_ && app_.overview.open && !app_.overview.loading && !app_.overview.stopped;
  }
  void wait();
  void take_events();
  void draw();

  static constexpr double look_again_ = 0.5;  // seconds between looks at a logdir that may grow

  Window window_;
  EngineThread engine_{archive::open_path, [] { Window::wake(); }, report::find_mutes_of, report::find_rules_of};
  bool following_ = true;
  std::string picture_;  // where the next frame goes
  std::vector<std::string> opened_;
  Sharing sharing_{[] { Window::wake(); }};
  App app_;
  StateFile state_;
  double looked_ = 0;
};

Platform Desktop::platform() {
  Platform p;
  p.send = [this](Request request) {
    if (const auto* const open = std::get_if<Open>(&request.what)) {
      opened_ = open->paths;
      for (const std::string& path : opened_) add_recent({path});
    }
    engine_.send(std::move(request));
  };
  p.copy = [this](const std::string& text) { window_.copy(text); };
  p.save_list = [](const std::string& name, const Exported& part) { return save_part(name, part.text, part.first); };
  p.share = [this](const ShareWish& wish) { return sharing_.begin(opened_, wish); };
  p.share_place = [this] { return Sharing::place_for(opened_); };
  p.mutes_file = [this] { return opened_.size() == 1 ? report::mutes_file_for(opened_.front()) : std::string(); };
  p.add_mute = [](const std::string& file, const std::string& line) { return report::append_mute(file, line); };
  p.rules_file = [this] { return opened_.size() == 1 ? report::rules_file_for(opened_.front()) : std::string(); };
  p.write_rules = report::replace_rules;
  p.screenshot = [this](const std::string& path) { picture_ = path.empty() ? picture_name() : path; };
  p.save_settings = store_settings;
  p.follow = [this](bool on) { following_ = on; };
  p.loaded = [this](const Overview& overview) {
    if (opened_.size() != 1) return;  // runs don't tell which logdir they are of
    Recent known{opened_.front(), 0, 0, 0};
    for (const RunInfo& run : overview.runs) {
      known.rows += static_cast<std::int64_t>(run.num_traces);
      known.alerts += static_cast<std::int64_t>(run.num_alerts);
    }
    add_recent(known);
  };
  p.full_screen = [this] { return window_.toggle_full_screen(); };
  p.can_detach = true;
  p.quit = [this] { window_.close(); };
  p.link_text = [](const std::string& link) { return "--view '" + link + "'"; };
  p.memory_bytes = resident_bytes;
  p.recent = load_recent();
  std::erase_if(p.recent, [](const Recent& recent) { return ::access(recent.path.c_str(), R_OK) != 0; });
  if (const std::string sample = find_sample(); !sample.empty())
    p.open_sample = [this, sample] { app_.open({sample}); };
  return p;
}

Desktop::Desktop(const Options& options)
    : window_("nanlens", options.width, options.height), app_(platform()), state_(options.state_file) {
  app_.set_system_tongue(tongue_of_environment());
  app_.apply_settings(load_settings());
  if (!options.theme.empty()) app_.command("theme", {{"name", options.theme}});
  if (!options.language.empty()) app_.command("language", {{"tag", options.language}});
  app_.device_scale = window_.content_scale();
  load_fonts(app_.ui, find_cjk_fonts(tongue()), nullptr);
  app_.now = looked_ = seconds_now();
  if (!options.view.empty()) app_.apply_link(options.view);
  if (!options.paths.empty()) app_.open(options.paths);
}

void Desktop::wait() {
  constexpr double next_picture = 0.004;  // while something moves
  const double due = app_.next_frame_in(seconds_now());
  constexpr double ends = 0.1;  // looks whether a page is written
  if (app_.wants_frame(seconds_now()))
    window_.wait(next_picture);
  else if (app_.share_pane.writing)
    window_.wait(ends);
  else if (grows())
    window_.wait(due > 0 ? std::min(due, look_again_) : look_again_);
  else
    window_.wait(due);
}

void Desktop::take_events() {
  for (Reply& reply : engine_.receive()) app_.receive(std::move(reply));
  if (auto dropped = window_.take_dropped(); !dropped.empty()) take_dropped(app_, std::move(dropped));
  if (window_.take_activity()) app_.wake(3);
  if (const auto ended = sharing_.take_ended()) app_.shared(ended->ok, ended->text);
  if (!grows() || seconds_now() - looked_ < look_again_) return;
  looked_ = seconds_now();
  engine_.send({0, Reload{.quiet = true}});
}

void Desktop::draw() {
  app_.device_scale = window_.content_scale();
  window_.allow_more_windows(app_.layout.any_detached());
  const auto frame = [&] { app_.frame(seconds_now()); };
  const std::string path = std::exchange(picture_, {});
  if (path.empty()) return window_.draw(frame, nullptr);
  Pixels pixels;
  window_.draw(frame, &pixels);
  app_.toast(tr(write_png(path, pixels) ? Text::screenshot_written : Text::screenshot_failed, {{"path", path}}));
}

void Desktop::run() {
  while (!window_.closed()) {
    wait();
    take_events();
    if (app_.wants_frame(seconds_now())) draw();
    state_.write(app_);
  }
  app_.save_settings();
}

}  // namespace
}  // namespace nanlens::viewer

int main(int argc, char** argv) {
  CLI::App parser{
      "nanlens-viewer shows where a NaN comes from: six panes on the logdirs of nanlens and of TensorFlow's Debugger "
      "V2."};
  parser.set_version_flag("--version", NANLENS_VERSION_STRING);
  nanlens::viewer::Options options;
  parser.add_option("LOGDIR", options.paths, "logdirs, or archives of them");
  parser.add_option("--view", options.view, "what to show, as 'Copy a link to this view' gives it; t=88: row 88");
  parser.add_option("--state", options.state_file, "keep what is on screen in this file, as JSON");
  parser.add_option("--theme", options.theme, "light, dark, contrast or system")
      ->check(CLI::IsMember({"light", "dark", "contrast", "system"}));
  parser.add_option("--lang", options.language, "of the texts: en, de, ja, ko, zh-TW, pt-BR or system")
      ->check(CLI::IsMember({"en", "de", "ja", "ko", "zh-TW", "pt-BR", "xx", "system"}));
  parser.add_option("--width", options.width, "of the window")->check(CLI::Range(320, 16384));
  parser.add_option("--height", options.height, "of the window")->check(CLI::Range(240, 16384));
  CLI11_PARSE(parser, argc, argv);
  try {
    if (!options.view.empty()) {
      const auto view = nanlens::report::view_link(options.view);
      if (!view) throw std::runtime_error(nanlens::report::no_view_link(options.view));
      options.view = *view;
    }
    nanlens::viewer::Desktop(options).run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nanlens-viewer: %s\n", error.what());
    return 2;
  }
}
