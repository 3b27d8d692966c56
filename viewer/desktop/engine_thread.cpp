#include "engine_thread.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <nanlens/archive/archive.hpp>

namespace nanlens::viewer {

EngineThread::EngineThread(OpenStorage open, std::function<void()> notify)
    : engine_(std::move(open)), notify_(std::move(notify)), thread_([this] { run(); }) {}

EngineThread::~EngineThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void EngineThread::send(Request request) {
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
  }
  wake_.notify_one();
}

std::vector<Reply> EngineThread::receive() {
  const std::lock_guard lock(mutex_);
  return std::exchange(replies_, {});
}

void EngineThread::run() {
  bool more = false;
  for (;;) {
    std::vector<Request> requests;
    {
      std::unique_lock lock(mutex_);
      if (!more) wake_.wait(lock, [this] { return stop_ || !requests_.empty(); });
      if (stop_) return;
      requests = std::exchange(requests_, {});
    }
    for (Request& request : requests) engine_.handle(std::move(request));
    more = engine_.step();
    std::vector<Reply> replies = engine_.take_replies();
    if (replies.empty()) continue;
    {
      const std::lock_guard lock(mutex_);
      for (Reply& reply : replies) replies_.push_back(std::move(reply));
    }
    notify_();
  }
}

std::unique_ptr<reader::Storage> open_path(const std::string& path, std::string& why) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    why = "Can't open " + path + ": " + std::strerror(errno) + ".";
    return nullptr;
  }
  if (S_ISDIR(info.st_mode)) return std::make_unique<reader::DirectoryStorage>(path);
  // One of the six files stands for its directory.
  const std::string name = path.substr(path.find_last_of('/') + 1);
  if (name.starts_with(logdir::file_prefix)) {
    const std::size_t slash = path.find_last_of('/');
    return std::make_unique<reader::DirectoryStorage>(slash == std::string::npos ? "." : path.substr(0, slash));
  }
  std::string reason;
  auto storage = archive::open(std::make_unique<reader::FileSource>(path), reason);
  if (storage == nullptr) why = path + " is neither a logdir nor an archive of one: " + reason + ".";
  return storage;
}

}  // namespace nanlens::viewer
