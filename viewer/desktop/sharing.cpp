#include "sharing.hpp"

#include <chrono>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include "share/shared_page.hpp"

namespace nanlens::viewer {

namespace fs = std::filesystem;

std::string Sharing::place_for(const std::vector<std::string>& opened) {
  if (opened.size() != 1) return {};
  std::error_code error;
  fs::path logdir = fs::absolute(opened.front(), error).lexically_normal();
  if (error) return {};
  if (!logdir.has_filename()) logdir = logdir.parent_path();
  const fs::path name = share::name_for(logdir.string());
  fs::path file = logdir.parent_path() / name;
  const auto is_taken = [&](const fs::path& path) {
    return fs::exists(path, error) || fs::exists(path.string() + ".part", error);  // it is being written
  };
  for (int n = 2; is_taken(file); ++n)
    file = logdir.parent_path() / (name.stem().string() + "-" + std::to_string(n) + name.extension().string());
  return file.string();
}

std::string Sharing::begin(const std::vector<std::string>& opened, const ShareWish& wish) {
  constexpr std::int64_t rows_around = 20;
  share::PageOptions options;
  options.output = place_for(opened);
  if (options.output.empty()) return tr(Text::share_one);
  options.path = opened.front();
  options.view = wish.view;
  options.no_source = wish.no_source;
  if (wish.around_cause) options.around_cause = rows_around;
  options.stopped = [this] { return stopped_.load(); };
  writing_ = std::async(std::launch::async, [options, notify = notify_]() -> Ended {
    Ended ended;
    try {
      ended = {true, share::write_page(options)};
    } catch (const std::exception& error) {
      ended = {false, error.what()};
    }
    notify();
    return ended;
  });
  return {};
}

std::optional<Sharing::Ended> Sharing::take_ended() {
  // It is ready a moment after it has notified.
  constexpr std::chrono::milliseconds moment(5);
  if (!writing_.valid() || writing_.wait_for(moment) != std::future_status::ready) return std::nullopt;
  return writing_.get();
}

}  // namespace nanlens::viewer
