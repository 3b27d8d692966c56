#include "window.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "imgui.h"
#include "imgui_impl_glfw.h"
#include "imgui_impl_opengl3.h"
#include "imgui_internal.h"

#define GLFW_INCLUDE_GLEXT
#include <GLFW/glfw3.h>

namespace nanlens::viewer {

namespace {

std::string glfw_error() {
  const char* text = nullptr;
  glfwGetError(&text);
  return text == nullptr ? "unknown reason" : text;
}

bool has_more_windows() { return (ImGui::GetIO().ConfigFlags & ImGuiConfigFlags_ViewportsEnable) != 0; }

// Which window the mouse is in is told only when a frame begins, behind what was pressed in it meanwhile: a click that
// comes at once with the mouse would go to the window where it was before.
void tell_window_first() {
  auto& events = ImGui::GetCurrentContext()->InputEventsQueue;
  const auto tells = [](const ImGuiInputEvent& e) { return e.Type == ImGuiInputEventType_MouseViewport; };
  const auto told = std::find_if(events.begin(), events.end(), tells);
  if (told != events.end()) std::rotate(events.begin(), told, told + 1);
}

Window* of(GLFWwindow* window) { return static_cast<Window*>(glfwGetWindowUserPointer(window)); }

}  // namespace

Window::Window(const std::string& title, int width, int height) {
  if (glfwInit() != GLFW_TRUE)
    throw std::runtime_error("no window can be opened: " + glfw_error() + " (is there a display?)");
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 0);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  window_ = glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr);
  if (window_ == nullptr) {
    const std::string reason = glfw_error();
    glfwTerminate();
    throw std::runtime_error("no window with OpenGL 3 can be opened: " + reason);
  }
  glfwMakeContextCurrent(window_);
  glfwSwapInterval(1);
  glfwSetWindowUserPointer(window_, this);
  // Set before ImGui's own callbacks, which call on to these.
  glfwSetWindowRefreshCallback(window_, [](GLFWwindow* w) { of(w)->activity_ = true; });
  glfwSetFramebufferSizeCallback(window_, [](GLFWwindow* w, int, int) { of(w)->activity_ = true; });
  glfwSetKeyCallback(window_, [](GLFWwindow* w, int, int, int, int) { of(w)->activity_ = true; });
  glfwSetCharCallback(window_, [](GLFWwindow* w, unsigned int) { of(w)->activity_ = true; });
  glfwSetMouseButtonCallback(window_, [](GLFWwindow* w, int, int, int) { of(w)->activity_ = true; });
  glfwSetCursorPosCallback(window_, [](GLFWwindow* w, double, double) { of(w)->activity_ = true; });
  glfwSetScrollCallback(window_, [](GLFWwindow* w, double, double) { of(w)->activity_ = true; });
  glfwSetWindowFocusCallback(window_, [](GLFWwindow* w, int) { of(w)->activity_ = true; });
  glfwSetCursorEnterCallback(window_, [](GLFWwindow* w, int) { of(w)->activity_ = true; });
  glfwSetDropCallback(window_, [](GLFWwindow* w, int count, const char** paths) {
    for (int i = 0; i < count; ++i) of(w)->dropped_.emplace_back(paths[i]);
    of(w)->activity_ = true;
  });
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  ImGui_ImplGlfw_InitForOpenGL(window_, true);
  ImGui_ImplOpenGL3_Init("#version 130");
}

Window::~Window() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
  glfwDestroyWindow(window_);
  glfwTerminate();
}

void Window::wait(double seconds) {
  if (seconds == 0)
    glfwPollEvents();
  else if (seconds < 0)
    glfwWaitEvents();
  else
    glfwWaitEventsTimeout(seconds);
}

void Window::draw(const std::function<void()>& frame, Pixels* pixels) {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  tell_window_first();
  ImGui::NewFrame();
  frame();
  ImGui::Render();
  if (has_more_windows()) {
    ImGui::UpdatePlatformWindows();
    ImGui::RenderPlatformWindowsDefault();
    glfwMakeContextCurrent(window_);
  }
  int width = 0;
  int height = 0;
  glfwGetFramebufferSize(window_, &width, &height);
  glViewport(0, 0, width, height);
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  if (pixels != nullptr) {
    *pixels = {width, height,
               std::vector<std::uint8_t>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3)};
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, width, height, GL_RGB, GL_UNSIGNED_BYTE, pixels->rgb.data());
  }
  glfwSwapBuffers(window_);
}

bool Window::closed() const { return glfwWindowShouldClose(window_) == GLFW_TRUE; }
void Window::close() { glfwSetWindowShouldClose(window_, GLFW_TRUE); }
// Other windows' events reach ImGui alone.
bool Window::take_activity() {
  bool elsewhere = false;
  if (has_more_windows()) {
    elsewhere = !ImGui::GetCurrentContext()->InputEventsQueue.empty();
    for (const ImGuiViewport* const viewport : ImGui::GetPlatformIO().Viewports)
      elsewhere = elsewhere || viewport->PlatformRequestClose || viewport->PlatformRequestMove ||
                  viewport->PlatformRequestResize;
  }
  return std::exchange(activity_, false) || elsewhere;
}

void Window::allow_more_windows(bool on) {
  ImGuiIO& io = ImGui::GetIO();
  io.ConfigViewportsNoDecoration = false;
  if (on)
    io.ConfigFlags |= ImGuiConfigFlags_ViewportsEnable;
  else
    io.ConfigFlags &= ~ImGuiConfigFlags_ViewportsEnable;
}

float Window::content_scale() const {
  float x = 1;
  float y = 1;
  glfwGetWindowContentScale(window_, &x, &y);
  // Where a window is measured in larger units than the framebuffer has pixels (Wayland), ImGui scales what is drawn.
  int units = 0;
  int pixels = 0;
  glfwGetWindowSize(window_, &units, nullptr);
  glfwGetFramebufferSize(window_, &pixels, nullptr);
  return units > 0 && pixels > 0 ? x * static_cast<float>(units) / static_cast<float>(pixels) : x;
}

namespace {

// The monitor with the largest part of a window.
GLFWmonitor* monitor_of(int x, int y, int width, int height) {
  int count = 0;
  GLFWmonitor* const* const monitors = glfwGetMonitors(&count);
  GLFWmonitor* best = glfwGetPrimaryMonitor();
  long most = 0;
  for (int i = 0; i < count; ++i) {
    int left = 0;
    int top = 0;
    glfwGetMonitorPos(monitors[i], &left, &top);
    const GLFWvidmode& mode = *glfwGetVideoMode(monitors[i]);
    const long w = std::min(x + width, left + mode.width) - std::max(x, left);
    const long h = std::min(y + height, top + mode.height) - std::max(y, top);
    if (w <= 0 || h <= 0 || w * h <= most) continue;
    most = w * h;
    best = monitors[i];
  }
  return best;
}

}  // namespace

bool Window::toggle_full_screen() {
  Place& p = before_full_screen_;
  if (glfwGetWindowMonitor(window_) != nullptr) {
    glfwSetWindowMonitor(window_, nullptr, p.x, p.y, p.width, p.height, GLFW_DONT_CARE);
    return false;
  }
  glfwGetWindowPos(window_, &p.x, &p.y);
  glfwGetWindowSize(window_, &p.width, &p.height);
  GLFWmonitor* const monitor = monitor_of(p.x, p.y, p.width, p.height);
  if (monitor == nullptr) return false;
  const GLFWvidmode& mode = *glfwGetVideoMode(monitor);
  glfwSetWindowMonitor(window_, monitor, 0, 0, mode.width, mode.height, mode.refreshRate);
  return true;
}

void Window::copy(const std::string& text) { glfwSetClipboardString(window_, text.c_str()); }
std::vector<std::string> Window::take_dropped() { return std::exchange(dropped_, {}); }
void Window::wake() { glfwPostEmptyEvent(); }

}  // namespace nanlens::viewer
