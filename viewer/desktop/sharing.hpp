/// @file
/// Handing on what is open, beside the window: writing a page takes as long as the recording is large.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "app/app.hpp"

namespace nanlens::viewer {

/// Writes one page at a time, next to the logdir, and never over another file.
class Sharing {
 public:
  /// `notify` is called in another thread when a page is written, or can't be.
  explicit Sharing(std::function<void()> notify) : notify_(std::move(notify)) {}
  Sharing(const Sharing&) = delete;
  Sharing& operator=(const Sharing&) = delete;
  /// Gives up what is being written.
  ~Sharing() { stopped_ = true; }

  /// The file for what is open; empty where that is not one logdir.
  [[nodiscard]] static std::string place_for(const std::vector<std::string>& opened);
  /// Begins to write. Returns why that can't be; empty if it goes on.
  std::string begin(const std::vector<std::string>& opened, const ShareWish& wish);
  struct Ended {
    bool ok = false;
    std::string text;  ///< the file, or why there is none
  };
  /// How it ended, once.
  std::optional<Ended> take_ended();

 private:
  std::function<void()> notify_;
  std::atomic<bool> stopped_ = false;
  std::future<Ended> writing_;  // last: it waits for the other thread
};

}  // namespace nanlens::viewer
