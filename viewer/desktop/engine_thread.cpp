#include "engine_thread.hpp"

#include <utility>

namespace nanlens::viewer {

EngineThread::EngineThread(OpenStorage open, std::function<void()> notify, FindMutes find_mutes, FindRules find_rules)
    : engine_(std::move(open), std::move(find_mutes), std::move(find_rules)),
      notify_(std::move(notify)),
      thread_([this] { run(); }) {}

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

}  // namespace nanlens::viewer
