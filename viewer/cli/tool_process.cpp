// Running a tool, for its output.
#include "tool_process.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "open.hpp"

namespace nanlens::cli {

namespace {

// In the child: only what is allowed between fork and exec.
[[noreturn]] void become(char* const* words, int output) {
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execvp(words[0], words);
  ::_exit(127);
}

std::string read_all(int from) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(from, buffer, sizeof buffer);
    if (n > 0)
      text.append(buffer, static_cast<std::size_t>(n));
    else if (n == 0 || errno != EINTR)
      return text;
  }
}

}  // namespace

ToolResult run_tool(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Failure(std::string("no pipe to be had: ") + std::strerror(errno));
  ::unsetenv("LD_PRELOAD");
  const pid_t child = ::fork();
  if (child == 0) become(arguments.data(), ends[1]);
  ::close(ends[1]);
  ToolResult result;
  if (child > 0) result.output = read_all(ends[0]);
  ::close(ends[0]);
  if (child < 0) throw Failure("can't start " + words.front() + ": " + std::strerror(errno));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace nanlens::cli
