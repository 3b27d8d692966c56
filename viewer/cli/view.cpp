// Starting the desktop viewer, which is a program of its own: this one links no GUI library.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "commands.hpp"
#include "open.hpp"
#include "share/own_program.hpp"

namespace nanlens::cli {

namespace {

// Beside this program, as it is built and installed.
std::string viewer_beside_us() {
  if (share::own_program().empty()) return {};
  std::string viewer = share::own_program().replace_filename("nanlens-viewer").string();
  return ::access(viewer.c_str(), X_OK) == 0 ? viewer : std::string{};
}

bool has_display() {
  const char* const x11 = std::getenv("DISPLAY");
  const char* const wayland = std::getenv("WAYLAND_DISPLAY");
  return (x11 != nullptr && x11[0] != '\0') || (wayland != nullptr && wayland[0] != '\0');
}

}  // namespace

std::string why_no_viewer() {
  if (viewer_beside_us().empty()) return "nanlens-viewer is not beside this program";
  if (!has_display()) return "there is no display (DISPLAY is not set)";
  return {};
}

int view(const std::vector<std::string>& paths) {
  if (const std::string why = why_no_viewer(); !why.empty())
    throw Failure("can't start the viewer: " + why + "; 'nanlens report' answers in text");
  std::string program = viewer_beside_us();
  std::vector<std::string> words = {program};
  words.insert(words.end(), paths.begin(), paths.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  throw Failure("can't start '" + program + "': " + std::strerror(errno));
}

}  // namespace nanlens::cli
