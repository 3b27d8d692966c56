/// @file
/// Non-blocking calls that are under way: what comes of them is recorded when the program sees that they are complete.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include <mpi.h>

#include <nanlens/config.hpp>
#include <nanlens/hosts/mpi/recording.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN mpi_host {

/// Called once with the status of what is complete; with null if the program will not get to know it.
using Completion = std::function<void(const MPI_Status*)>;

/// By request. Some requests of one number may be under way together: MPI gives what is complete at once the same one.
class Pending {
 public:
  static Pending& get() {
    static Pending* const pending = new Pending;  // never destroyed: calls may come while the program ends
    return *pending;
  }
  [[nodiscard]] bool empty() const noexcept { return count_.load(std::memory_order_acquire) == 0; }
  void add(MPI_Request request, Completion completion) {
    const std::lock_guard guard(lock_);
    all_.emplace(number_of(request), std::move(completion));
    count_.fetch_add(1, std::memory_order_release);
  }
  [[nodiscard]] bool has(MPI_Request request) {
    const std::lock_guard guard(lock_);
    return all_.find(number_of(request)) != all_.end();
  }
  void end(std::uint64_t request, const MPI_Status* status) {
    Completion completion;
    {
      const std::lock_guard guard(lock_);
      const auto found = all_.find(request);
      if (found == all_.end()) return;
      completion = std::move(found->second);
      all_.erase(found);
      count_.fetch_sub(1, std::memory_order_release);
    }
    completion(status);
  }

  /// An address or an integer: MPI says not which.
  static std::uint64_t number_of(MPI_Request request) noexcept {
    std::uint64_t number = 0;
    static_assert(sizeof(MPI_Request) <= sizeof number);
    std::memcpy(&number, static_cast<const void*>(&request), sizeof(MPI_Request));
    return number;
  }

 private:
  std::mutex lock_;
  std::unordered_multimap<std::uint64_t, Completion> all_;
  std::atomic<std::size_t> count_{0};
};

/// The requests that a call waits for, as they are before MPI takes them back, and room for their statuses.
class Waiting {
 public:
  /// `ignored`: what the program gives for statuses that it does not want; `room`: how many statuses there are.
  Waiting(int count, const MPI_Request* requests, MPI_Status* statuses, const MPI_Status* ignored, int room)
      : statuses_(statuses) {
    if (count <= 0 || requests == nullptr || Pending::get().empty()) return;
    without_throwing([&] {
      bool any = false;
      for (int i = 0; i < count; ++i) {
        numbers_.push_back(Pending::number_of(requests[i]));
        any = any || Pending::get().has(requests[i]);
      }
      if (!any) return numbers_.clear();
      if (statuses_ != ignored) return;
      own_.resize(static_cast<std::size_t>(room));
      statuses_ = own_.data();
    });
  }
  /// What to give MPI for the statuses.
  [[nodiscard]] MPI_Status* statuses() const noexcept { return statuses_; }
  /// The request at this place is complete; `status`: where MPI put its status.
  void end(int place, int status) noexcept {
    if (place < 0 || static_cast<std::size_t>(place) >= numbers_.size()) return;
    without_throwing([&] { Pending::get().end(numbers_[static_cast<std::size_t>(place)], &statuses_[status]); });
  }
  void end_all() noexcept {
    for (std::size_t i = 0; i < numbers_.size(); ++i) end(static_cast<int>(i), static_cast<int>(i));
  }

 private:
  MPI_Status* statuses_;
  std::vector<std::uint64_t> numbers_;  // empty: none of them is one of ours
  std::vector<MPI_Status> own_;
};

}  // namespace NANLENS_HIDDEN mpi_host
}  // namespace nanlens::inline NANLENS_ABI
