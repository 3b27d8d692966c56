#include "window.hpp"

#include <stdexcept>
#include <utility>

#include "imgui.h"
#include "imgui_impl_glfw.h"
#include "imgui_impl_opengl3.h"

#define GLFW_INCLUDE_GLEXT
#include <GLFW/glfw3.h>

namespace nanlens::viewer {

namespace {

std::string glfw_error() {
  const char* text = nullptr;
  glfwGetError(&text);
  return text == nullptr ? "unknown reason" : text;
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
  ImGui::NewFrame();
  frame();
  ImGui::Render();
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
bool Window::take_activity() { return std::exchange(activity_, false); }

float Window::content_scale() const {
  float x = 1;
  float y = 1;
  glfwGetWindowContentScale(window_, &x, &y);
  return x;
}

void Window::copy(const std::string& text) { glfwSetClipboardString(window_, text.c_str()); }
std::vector<std::string> Window::take_dropped() { return std::exchange(dropped_, {}); }
void Window::wake() { glfwPostEmptyEvent(); }

}  // namespace nanlens::viewer
