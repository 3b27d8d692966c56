/// @file
/// The engine in a thread of its own.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/engine.hpp"

namespace nanlens::viewer {

/// Owns the engine. Requests and replies cross in queues; `notify` is called in the engine's thread when there are
/// replies.
class EngineThread {
 public:
  EngineThread(OpenStorage open, std::function<void()> notify, FindMutes find_mutes = {}, FindRules find_rules = {});
  EngineThread(const EngineThread&) = delete;
  EngineThread& operator=(const EngineThread&) = delete;
  /// Waits until the slice under way is done.
  ~EngineThread();

  void send(Request request);
  std::vector<Reply> receive();

 private:
  void run();

  Engine engine_;
  std::function<void()> notify_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Request> requests_;
  std::vector<Reply> replies_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace nanlens::viewer
