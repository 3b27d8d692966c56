// The desktop viewer.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
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
#include "settings.hpp"
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

int run(const Options& options) {
  Window window("nanlens", options.width, options.height);
  EngineThread engine(archive::open_path, [] { Window::wake(); });
  bool following = true;
  Platform platform;
  platform.send = [&](Request request) {
    if (const auto* const open = std::get_if<Open>(&request.what))
      for (const std::string& path : open->paths) add_recent(path);
    engine.send(std::move(request));
  };
  platform.copy = [&](const std::string& text) { window.copy(text); };
  platform.save_list = [](const std::string& name, const Exported& part) {
    return save_part(name, part.text, part.first);
  };
  std::string picture;  // where the next frame goes
  platform.screenshot = [&](const std::string& path) { picture = path.empty() ? picture_name() : path; };
  platform.save_settings = store_settings;
  platform.follow = [&](bool on) { following = on; };
  platform.full_screen = [&] { return window.toggle_full_screen(); };
  platform.can_detach = true;
  platform.quit = [&] { window.close(); };
  platform.link_text = [](const std::string& link) { return "--view '" + link + "'"; };
  platform.memory_bytes = resident_bytes;
  const std::string sample = find_sample();
  platform.recent = load_recent();
  std::erase_if(platform.recent, [](const std::string& path) { return ::access(path.c_str(), R_OK) != 0; });
  App app(std::move(platform));
  if (!sample.empty()) app.platform.open_sample = [&] { app.open({sample}); };
  app.apply_settings(load_settings());
  if (!options.theme.empty()) app.command("theme", {{"name", options.theme}});
  app.device_scale = window.content_scale();
  load_fonts(app.ui, find_cjk_font(), nullptr);
  app.now = seconds_now();
  if (!options.view.empty()) app.apply_link(options.view);
  if (!options.paths.empty()) app.open(options.paths);

  StateFile state(options.state_file);
  constexpr double look_again = 0.5;  // seconds between looks at a logdir that may grow
  double looked = seconds_now();
  while (!window.closed()) {
    const bool busy = app.wants_frame(seconds_now());
    const bool grows = following && app.overview.open && !app.overview.loading && !app.overview.stopped;
    const double due = app.next_frame_in(seconds_now());
    window.wait(busy ? 0.004 : grows ? (due > 0 ? std::min(due, look_again) : look_again) : due);
    for (Reply& reply : engine.receive()) app.receive(std::move(reply));
    if (auto dropped = window.take_dropped(); !dropped.empty()) take_dropped(app, std::move(dropped));
    if (window.take_activity()) app.wake(3);
    if (grows && seconds_now() - looked >= look_again) {
      looked = seconds_now();
      engine.send({0, Reload{.quiet = true}});
    }
    if (!app.wants_frame(seconds_now())) {
      state.write(app);
      continue;
    }
    app.device_scale = window.content_scale();
    window.allow_more_windows(app.layout.any_detached());
    if (const std::string path = std::exchange(picture, {}); path.empty()) {
      window.draw([&] { app.frame(seconds_now()); }, nullptr);
    } else {
      Pixels pixels;
      window.draw([&] { app.frame(seconds_now()); }, &pixels);
      app.toast(tr(write_png(path, pixels) ? Text::screenshot_written : Text::screenshot_failed, {{"path", path}}));
    }
    state.write(app);
  }
  return 0;
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
  parser.add_option("--view", options.view, "what to show, as 'Copy a link to this view' gives it");
  parser.add_option("--state", options.state_file, "keep what is on screen in this file, as JSON");
  parser.add_option("--theme", options.theme, "light, dark, contrast or system")
      ->check(CLI::IsMember({"light", "dark", "contrast", "system"}));
  parser.add_option("--width", options.width, "of the window")->check(CLI::Range(320, 16384));
  parser.add_option("--height", options.height, "of the window")->check(CLI::Range(240, 16384));
  CLI11_PARSE(parser, argc, argv);
  try {
    return nanlens::viewer::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nanlens-viewer: %s\n", error.what());
    return 2;
  }
}
