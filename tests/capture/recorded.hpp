/// @file
/// Recording in a test, and reading back what was recorded.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <nanlens/nanlens.hpp>
#include <nanlens/reader/reader.hpp>

#include "../support/temporary_directory.hpp"

namespace nanlens::test {

inline DumpOptions everything(const std::string& logdir, TensorDebugMode mode = TensorDebugMode::full_health) {
  return {.logdir = logdir, .tensor_debug_mode = mode, .circular_buffer_size = -1, .stack = StackMode::call_site};
}

/// The same, but only the last `size` events of each kind are kept.
inline DumpOptions ring_of(const std::string& logdir, std::int64_t size) {
  DumpOptions options = everything(logdir);
  options.circular_buffer_size = size;
  return options;
}

/// The path of a logdir's file with an extension; empty if there is none.
inline std::string file_of(const std::string& logdir, std::string_view extension) {
  for (const auto& entry : std::filesystem::directory_iterator(logdir))
    if (entry.path().extension() == extension) return entry.path();
  return {};
}

/// A logdir of its own, recorded by `body`, and read.
class Recorded {
 public:
  template <class Body>
  explicit Recorded(const Body& body) : Recorded(body, [](DumpOptions&) {}) {}
  template <class Body, class Adjust>
  Recorded(const Body& body, const Adjust& adjust) {
    DumpOptions options = everything(directory_ / "run");
    adjust(options);
    enable_dump_debug_info(options);
    body();
    disable_dump_debug_info();
    logdir_ = std::make_unique<reader::Logdir>(options.logdir);
    logdir_->update();
  }
  reader::Run& operator*() const { return *logdir_->runs().at(0); }
  reader::Run* operator->() const { return logdir_->runs().at(0).get(); }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<reader::Logdir> logdir_;
};

}  // namespace nanlens::test
