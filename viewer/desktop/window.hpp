/// @file
/// The desktop's window: GLFW, OpenGL 3 and Dear ImGui's backends for both.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "picture.hpp"

struct GLFWwindow;

namespace nanlens::viewer {

/// A window with an OpenGL context and an ImGui context. Only one at a time.
class Window {
 public:
  /// Throws std::runtime_error with the reason if there is no display or no OpenGL 3.
  Window(const std::string& title, int width, int height);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window();

  /// Sleeps until an event or `wake` comes, or for `seconds` (0: only looks; < 0: until something comes).
  void wait(double seconds);
  /// Draws one frame by calling `frame`; puts what it shows into `pixels` unless that is null.
  void draw(const std::function<void()>& frame, Pixels* pixels);
  [[nodiscard]] bool closed() const;
  void close();
  /// True once after any input or exposure.
  bool take_activity();
  [[nodiscard]] float content_scale() const;
  void copy(const std::string& text);
  /// Paths that were dropped on the window.
  std::vector<std::string> take_dropped();
  /// Fills the screen that the window is on, or takes its former place again. True if it fills it now.
  bool toggle_full_screen();
  /// May ImGui's windows leave this one? Places are those of the screen then. Call between frames.
  void allow_more_windows(bool on);
  /// Ends a `wait`; may be called from any thread.
  static void wake();

 private:
  GLFWwindow* window_ = nullptr;
  bool activity_ = true;
  std::vector<std::string> dropped_;
  struct Place {
    int x = 0;
    int y = 0;
    int width = 0;
    int height = 0;
  } before_full_screen_;
};

}  // namespace nanlens::viewer
