/// @file
/// Recording in a test, and reading back what was recorded.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

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

/// Threads that record so many ops each, of which the first ones come at once.
inline void record_at_once(int num_threads, int num_ops) {
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < num_threads; ++t)
    threads.emplace_back([&ready, num_threads, num_ops] {
      ++ready;
      while (ready < num_threads) std::this_thread::yield();
      for (int i = 0; i < num_ops; ++i) nanlens::op("AtOnce", 1.0f);
    });
  for (std::thread& thread : threads) thread.join();
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
