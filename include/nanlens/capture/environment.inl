/// @file
/// Turning recording on from outside, with no change to the program: environment variables, read at the first event.
///
/// NANLENS_LOGDIR (turns recording on, unless the program has done so itself), NANLENS_MODE (default FULL_HEALTH),
/// NANLENS_CIRCULAR_BUFFER_SIZE (default 0: keep all), NANLENS_OP_REGEX, NANLENS_TENSOR_DTYPES (comma list),
/// NANLENS_EVERY, NANLENS_STEPS ("A..B", either end may be left out; see DumpOptions), NANLENS_VALUE_BUDGET (bytes),
/// NANLENS_PINNED_SITES, NANLENS_PINNED_EVENTS, NANLENS_STATISTICS, NANLENS_FP_FLAGS (0 or 1), NANLENS_STACK
/// (call_site, unwind, frame_pointers), NANLENS_RUN_ID, NANLENS_CHECK_NUMERICS (1: throw at the first NaN),
/// NANLENS_RULES (as in DumpOptions::rules, one per line, or in a single line with ';' between them),
/// NANLENS_RULES_STOP (0 or 1).
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <nanlens/capture/check_numerics.inl>
#include <nanlens/capture/dump.inl>
#include <nanlens/capture/host_state.hpp>
#include <nanlens/capture/platform.hpp>
#include <nanlens/config.hpp>
#include <nanlens/tensor/dtype_name.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

inline std::string_view environment(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

inline bool parse_dtypes(std::string_view text, std::vector<DType>& dtypes, std::string& why) {
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const DType dtype = dtype_from_name(text.substr(0, comma));
    if (dtype == DType::invalid) {
      why = "NANLENS_TENSOR_DTYPES: '" + std::string(text.substr(0, comma)) + "' is not a dtype (float32, bfloat16, …)";
      return false;
    }
    dtypes.push_back(dtype);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return true;
}

// A whole number, if the variable is set.
inline bool parse_number(const char* name, std::int64_t& number, std::string& why) {
  const std::string text(environment(name));
  if (text.empty()) return true;
  char* end = nullptr;
  errno = 0;
  number = std::strtoll(text.c_str(), &end, 10);
  if (errno == 0 && *end == '\0') return true;
  why = std::string(name) + ": '" + text + "' is not a whole number";
  return false;
}

// 0 or 1, if the variable is set.
inline bool parse_flag(const char* name, bool& flag, std::string& why) {
  const std::string_view text = environment(name);
  if (text == "1" || text == "0") flag = text == "1";
  if (text.empty() || text == "1" || text == "0") return true;
  why = std::string(name) + ": '" + std::string(text) + "' is neither 0 nor 1";
  return false;
}

// "A..B": both are steps that are recorded; without A from the first, without B to the end.
inline bool parse_steps(std::string_view text, DumpOptions& options, std::string& why) {
  const std::size_t dots = text.find("..");
  const auto read = [](std::string_view digits, std::int64_t& number) {
    constexpr std::size_t longest = 18;
    if (digits.empty()) return true;
    if (digits.size() > longest || digits.find_first_not_of("0123456789") != std::string_view::npos) return false;
    number = 0;
    for (const char digit : digits) number = number * 10 + (digit - '0');
    return true;
  };
  if (text.empty() ||
      (dots != std::string_view::npos && text.size() > 2 && read(text.substr(0, dots), options.first_step) &&
       read(text.substr(dots + 2), options.last_step)))
    return true;
  why = "NANLENS_STEPS: '" + std::string(text) + "' is no range of steps: A..B, A.. or ..B";
  return false;
}

// One per line; in a single line, semicolons separate them, but not within double quotes.
inline void parse_rule_items(std::string_view text, std::vector<std::string>& items) {
  const bool has_lines = text.find('\n') != std::string_view::npos;
  bool quoted = false;
  std::string item;
  const auto end_item = [&] {
    const std::size_t begin = item.find_first_not_of(" \t\r");
    if (begin != std::string::npos) items.push_back(item.substr(begin, item.find_last_not_of(" \t\r") + 1 - begin));
    item.clear();
  };
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (c == '\n' || (c == ';' && !quoted && !has_lines))
      end_item();
    else
      item += c;
  }
  end_item();
}

inline bool options_from_environment(DumpOptions& options, std::string& why) {
  options.logdir = environment("NANLENS_LOGDIR");
  options.tensor_debug_mode = TensorDebugMode::full_health;
  options.circular_buffer_size = 0;
  options.op_regex = environment("NANLENS_OP_REGEX");
  if (const auto mode = environment("NANLENS_MODE"); !mode.empty()) {
    options.tensor_debug_mode = debug_mode_from_name(mode);
    if (!is_recordable(options.tensor_debug_mode)) {
      why = "NANLENS_MODE: '" + std::string(mode) +
            "' can't be recorded; use NO_TENSOR, CURT_HEALTH, CONCISE_HEALTH, FULL_HEALTH, SHAPE or FULL_TENSOR";
      return false;
    }
  }
  if (!parse_number("NANLENS_CIRCULAR_BUFFER_SIZE", options.circular_buffer_size, why)) return false;
  if (!parse_number("NANLENS_VALUE_BUDGET", options.value_budget, why)) return false;
  if (!parse_number("NANLENS_PINNED_SITES", options.pinned_sites, why)) return false;
  if (!parse_number("NANLENS_PINNED_EVENTS", options.pinned_events, why)) return false;
  if (!parse_number("NANLENS_EVERY", options.every, why)) return false;
  if (!parse_steps(environment("NANLENS_STEPS"), options, why)) return false;
  if (!parse_flag("NANLENS_STATISTICS", options.statistics, why)) return false;
  if (!parse_flag("NANLENS_FP_FLAGS", options.fp_flags, why)) return false;
  if (!parse_flag("NANLENS_RULES_STOP", options.stop, why)) return false;
  parse_rule_items(environment("NANLENS_RULES"), options.rules);
  if (const auto stack = environment("NANLENS_STACK"); stack == "call_site")
    options.stack = StackMode::call_site;
  else if (stack == "frame_pointers")
    options.stack = StackMode::frame_pointers;
  else if (!stack.empty() && stack != "unwind") {
    why = "NANLENS_STACK: '" + std::string(stack) + "' is none of call_site, unwind, frame_pointers";
    return false;
  }
  return parse_dtypes(environment("NANLENS_TENSOR_DTYPES"), options.tensor_dtypes, why);
}

inline void read_environment() {
  if (const auto check = environment("NANLENS_CHECK_NUMERICS"); !check.empty() && check != "0") enable_check({});
  if (environment("NANLENS_LOGDIR").empty() || Sessions::get().chosen_by_program) return;
  DumpOptions options;
  std::string why;
  if (options_from_environment(options, why) && start_session(options, true, why)) return;
  std::fprintf(stderr, "nanlens: nothing is recorded: %s\n", why.c_str());
}

inline void begin_child() {
  std::string why;
  if (!start_session(Sessions::get().inherited, true, why))
    std::fprintf(stderr, "nanlens: nothing is recorded of the forked process %ld: %s\n", static_cast<long>(::getpid()),
                 why.c_str());
}

// What can't be begun is left off, with a line on stderr: the program did not ask for it here, and goes on.
template <class Body>
void begin_if(unsigned bit, Body&& body) noexcept {
  if ((Clients::get().bits() & bit) == 0) return;
#if NANLENS_HAS_EXCEPTIONS
  try {
    body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nanlens: nothing is recorded: %s\n", error.what());
  }
#else
  body();
#endif
  Clients::get().switch_off(bit);
}

/// Turns on what environment variables ask for, or what a process records whose parent was recorded; once. Threads that
/// come meanwhile wait: what they are about to do is to be on record, too. Not for ever, as they may hold what the
/// beginning thread needs (a static constructor has the loader's lock).
inline void begin_at_first_event() noexcept {
  constexpr std::uint64_t patience_ns = 2'000'000'000;
  constexpr unsigned process_shift = 32;
  static std::atomic<std::uint64_t> beginner{0};  // process and thread
  static std::atomic<bool> given_up{false};       // once is enough: thousands of ops may follow
  const HostState host;
  const auto process = static_cast<std::uint64_t>(::getpid());
  const std::uint64_t self = process << process_shift | (thread_number() & 0xffffffff);
  std::uint64_t begun_ns = 0;
  while ((Clients::get().bits() & (environment_unread_bit | forked_bit)) != 0) {
    std::uint64_t other = 0;
    if (beginner.compare_exchange_strong(other, self)) {
      begin_if(environment_unread_bit, read_environment);
      begin_if(forked_bit, begin_child);
      beginner.store(0);
      return;
    }
    if (other == self) return;  // an event of what begins, or of a signal's handler
    if (other >> process_shift != process) {
      beginner.compare_exchange_strong(other, 0);  // that thread has stayed in the parent process
      continue;
    }
    if (given_up.load()) return;
    const std::uint64_t now_ns = steady_now_ns();
    if (begun_ns == 0) begun_ns = now_ns;
    if (now_ns - begun_ns > patience_ns) {
      if (!given_up.exchange(true))
        std::fputs(
            "nanlens: another thread takes too long to begin to record; what comes until it has is not on record\n",
            stderr);
      return;
    }
    constexpr std::timespec pause{0, 50'000};
    ::nanosleep(&pause, nullptr);
  }
}

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
