/// @file
/// Return addresses to functions, files and lines. Used by the writer only, never by a thread that records.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cxxabi.h>
#include <unistd.h>
#if !defined(__EMSCRIPTEN__)
#include <dlfcn.h>
#endif
#if defined(NANLENS_HAVE_LIBBACKTRACE)
#include <backtrace.h>
#endif

#include <nanlens/capture/recorder_table.hpp>
#include <nanlens/capture/resolved_frame.hpp>
#include <nanlens/capture/rust_name.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

inline std::string demangled(const char* symbol) {
  if (symbol == nullptr) return {};
  if (std::string rust = RustSymbol::name_of(symbol); !rust.empty()) return rust;
  const bool is_mangled = std::string_view(symbol).starts_with("_Z");  // else a C function f became the type float
  int status = -1;
  char* const text = is_mangled ? abi::__cxa_demangle(symbol, nullptr, nullptr, &status) : nullptr;
  std::string name = status == 0 && text != nullptr ? text : symbol;
  std::free(text);
  return without_rust_hash(std::move(name));
}

/// A path without "." and ".." parts. Compilers store paths as they were given to them: a relative one becomes absolute
/// if the file is there, seen from the working directory; else it stays what it is, since nothing true can be added.
inline std::string true_path(std::string path) {
  if (path.empty()) return path;
  if (path.front() != '/') {
    char cwd[4096];
    if (::access(path.c_str(), F_OK) != 0 || ::getcwd(cwd, sizeof cwd) == nullptr) return path;
    path = std::string(cwd) + "/" + path;
  }
  std::vector<std::string_view> parts;
  for (std::string_view rest = path; !rest.empty();) {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part == ".." && !parts.empty())
      parts.pop_back();
    else if (!part.empty() && part != "." && part != "..")
      parts.push_back(part);
    rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
  }
  std::string result;
  for (const std::string_view part : parts) (result += '/') += part;
  return result.empty() ? "/" : result;
}

/// The frame of a call site.
inline ResolvedFrame frame_of(const SourcePlace& where) {
  return {true_path(where.file_name()), static_cast<std::int32_t>(where.line()), where.function_name()};
}

/// Could an absolute path and a relative one, as a compiler was given it, be the same file?
inline bool ends_with_path(std::string_view absolute, std::string_view relative) noexcept {
  for (const std::string_view up : {"./", "../", "./"})
    while (relative.starts_with(up)) relative.remove_prefix(up.size());
  return !relative.empty() && relative.front() != '/' && absolute.size() > relative.size() &&
         absolute.ends_with(relative) && absolute[absolute.size() - relative.size() - 1] == '/';
}

/// True for nanlens' own frames, which are cut from stacks.
inline bool is_own_frame(const ResolvedFrame& frame) noexcept {
  if (frame.line > 0) return frame.file.find("/include/nanlens/") != std::string::npos;
  return frame.function.substr(0, frame.function.find('(')).find("nanlens::") != std::string::npos;
}

class Symbolizer {
 public:
  /// The frames of a stack, outermost first, inlined calls included; the innermost is the line of `where`, if it has
  /// one.
  std::vector<ResolvedFrame> resolve(std::span<const std::uintptr_t> pcs, const SourcePlace& where) {
    std::vector<ResolvedFrame> frames;  // innermost first
    for (const std::uintptr_t pc : pcs) resolve_pc(pc, frames);
    std::vector<ResolvedFrame> kept;
    for (std::size_t i = frames.size(); i-- > 0;) {
      if (is_own_frame(frames[i]) || is_start_up(frames[i])) continue;
      kept.push_back(std::move(frames[i]));
    }
    if (where.line() > 0) place_site(where, kept);
    return kept;
  }

 private:
  // The line of the op's name is exact, but its file may be a relative path; of a frame of the walk it is the other way
  // round, since a return address lies behind the call.
  static void place_site(const SourcePlace& where, std::vector<ResolvedFrame>& frames) {
    if (*where.file_name() == '\0' && !frames.empty()) return;
    ResolvedFrame site{where.file_name(), static_cast<std::int32_t>(where.line()), where.function_name()};
    const auto same = [&](const ResolvedFrame& f) {
      return f.line > 0 && (f.file == site.file || ends_with_path(f.file, site.file));
    };
    const auto walked = std::find_if(frames.rbegin(), frames.rend(), same);
    site.file = walked != frames.rend() ? walked->file : true_path(std::move(site.file));
    if (!frames.empty() && frames.back().line > 0 && frames.back().file == site.file)
      frames.back().line = site.line;
    else
      frames.push_back(std::move(site));
  }

  static bool is_start_up(const ResolvedFrame& frame) noexcept {
    return frame.function == "_start" || frame.function.starts_with("__libc_start") ||
           frame.function == "start_thread" || frame.function == "clone3" || frame.function == "__clone";
  }

#if defined(NANLENS_HAVE_LIBBACKTRACE)
  struct Collector {
    std::vector<ResolvedFrame>* frames;
    std::size_t added = 0;
    std::string symbol = {};
  };
  static int on_frame(void* data, std::uintptr_t, const char* file, int line, const char* function) {
    auto& collector = *static_cast<Collector*>(data);
    if (file == nullptr || line <= 0) return 0;
    collector.frames->push_back({true_path(file), line, demangled(function)});
    ++collector.added;
    return 0;
  }
  static void on_symbol(void* data, std::uintptr_t, const char* symbol, std::uintptr_t, std::uintptr_t) {
    static_cast<Collector*>(data)->symbol = demangled(symbol);
  }
  static void on_error(void*, const char*, int) {}

  void resolve_pc(std::uintptr_t pc, std::vector<ResolvedFrame>& frames) {
    if (state_ == nullptr) state_ = ::backtrace_create_state(nullptr, 1, &on_error, nullptr);
    auto* const state = static_cast<backtrace_state*>(state_);
    Collector collector{&frames};
    ::backtrace_pcinfo(state, pc - 1, &on_frame, &on_error, &collector);
    if (collector.added > 0 && !frames.back().function.empty()) return;
    ::backtrace_syminfo(state, pc - 1, &on_symbol, &on_error, &collector);
    if (collector.added > 0)
      frames.back().function = std::move(collector.symbol);  // line tables alone (clang's -g1) name no functions
    else
      add_symbol(pc, std::move(collector.symbol), frames);
  }
#else
  void resolve_pc(std::uintptr_t pc, std::vector<ResolvedFrame>& frames) { add_symbol(pc, {}, frames); }
#endif

  // Without debug information: the symbol, and the module that holds it.
  static void add_symbol(std::uintptr_t pc, std::string symbol, std::vector<ResolvedFrame>& frames) {
#if !defined(__EMSCRIPTEN__)
    Dl_info info{};
    if (::dladdr(reinterpret_cast<const void*>(pc - 1), &info) == 0) return;
    if (symbol.empty()) symbol = demangled(info.dli_sname);
    if (!symbol.empty() && info.dli_fname != nullptr)
      frames.push_back({true_path(info.dli_fname), 0, std::move(symbol)});
#else
    (void)pc;
    (void)symbol;
    (void)frames;
#endif
  }

  [[maybe_unused]] void* state_ =
      nullptr;  // libbacktrace's; there in any case, since units with and without it may be linked together
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
