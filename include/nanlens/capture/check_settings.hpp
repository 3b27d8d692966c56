/// @file
/// What check_numerics was enabled with.
#pragma once

#include <memory>
#include <mutex>

#include <nanlens/capture/check_numerics.hpp>

namespace nanlens::detail {

struct CheckSettings {
  std::mutex lock;
  std::shared_ptr<const CheckNumericsOptions> options;
  static CheckSettings& get() {
    static CheckSettings* const settings = new CheckSettings;
    return *settings;
  }
  std::shared_ptr<const CheckNumericsOptions> current() {
    const std::lock_guard guard(lock);
    return options;
  }
};

}  // namespace nanlens::detail
