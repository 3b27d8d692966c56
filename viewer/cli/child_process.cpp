#include "child_process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "open.hpp"

extern char** environ;

namespace nanlens::cli {

namespace {

constexpr std::array forwarded{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT};

std::atomic<pid_t> child{0};

// A key of the terminal reaches the program by itself; what a process sends reaches only us.
void forward(int signal, siginfo_t* info, void*) {
  const int error = errno;
  if (info->si_code <= 0 && child.load() > 0) ::kill(child.load(), signal);
  errno = error;
}

class Forwarding {
 public:
  Forwarding() {
    struct sigaction action{};
    action.sa_sigaction = &forward;
    action.sa_flags = SA_SIGINFO;
    for (std::size_t i = 0; i < forwarded.size(); ++i) {
      ::sigaction(forwarded[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) ::sigaction(forwarded[i], &action, nullptr);
    }
  }
  Forwarding(const Forwarding&) = delete;
  Forwarding& operator=(const Forwarding&) = delete;
  ~Forwarding() {
    for (std::size_t i = 0; i < forwarded.size(); ++i) ::sigaction(forwarded[i], &before_[i], nullptr);
  }

 private:
  std::array<struct sigaction, forwarded.size()> before_{};
};

// Signals wait while there is a child whose number nobody knows yet.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() { release(); }
  void release() const { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  std::vector<std::string> all = variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name(*entry, std::strcspn(*entry, "=") + 1);
    bool is_set = false;
    for (const std::string& variable : variables) is_set = is_set || variable.starts_with(name);
    if (!is_set) all.emplace_back(*entry);
  }
  return all;
}

// What went wrong reaches the parent through the pipe, which a program that was started has closed.
[[noreturn]] void become(const std::string& path, char* const* words, char* const* environment, int pipe) {
  ::execve(path.c_str(), words, environment);
  const int error = errno;
  (void)!::write(pipe, &error, sizeof error);
  ::_exit(127);
}

Ended wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace

Ended run_program(const std::string& path, const std::vector<std::string>& words,
                  const std::vector<std::string>& variables) {
  const auto environment = environment_with(variables);
  const auto word_pointers = pointers(words);
  const auto environment_pointers = pointers(environment);
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) throw Failure(std::string("can't make a pipe: ") + std::strerror(errno));
  const Forwarding forwarding;
  pid_t process = -1;
  {
    const SignalsHeld held;
    process = ::fork();
    if (process == 0) {
      held.release();
      become(path, word_pointers.data(), environment_pointers.data(), pipe[1]);
    }
    child.store(process);
  }
  ::close(pipe[1]);
  int error = process < 0 ? errno : 0;
  const bool failed = process < 0 || ::read(pipe[0], &error, sizeof error) == sizeof error;
  ::close(pipe[0]);
  const Ended ended = process < 0 ? Ended{} : wait_for(process);
  child.store(0);
  if (failed) throw Failure("can't start '" + path + "': " + std::strerror(error));
  return ended;
}

}  // namespace nanlens::cli
