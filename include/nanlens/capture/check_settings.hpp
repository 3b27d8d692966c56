/// @file
/// What check_numerics was enabled with.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/capture/recorder_table.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// CheckOptionsRef, with texts of its own.
struct CheckOptions {
  explicit CheckOptions(const CheckOptionsRef& ref)
      : handler(ref.handler),
        context(ref.context),
        end(ref.end),
        stack_height_limit(ref.stack_height_limit),
        path_length_limit(ref.path_length_limit) {
    for (std::size_t i = 0; i < ref.num_exempt_ops; ++i) exempt_ops.emplace_back(ref.exempt_ops[i].view());
    for (std::size_t i = 0; i < ref.num_exempt_slots; ++i)
      exempt_slots.emplace_back(ref.exempt_slots[i].op_type.view(), ref.exempt_slots[i].slot);
  }
  CheckOptions(const CheckOptions&) = delete;
  CheckOptions& operator=(const CheckOptions&) = delete;
  ~CheckOptions() {
    if (end != nullptr) end(context);
  }
  void (*handler)(void* context, const NumericsRef* event);
  void* context;
  void (*end)(void* context) noexcept;
  std::int32_t stack_height_limit;
  std::int32_t path_length_limit;
  std::vector<std::string> exempt_ops;
  std::vector<std::pair<std::string, std::int32_t>> exempt_slots;
};

struct CheckSettings {
  std::mutex lock;
  std::shared_ptr<const CheckOptions> options;
  static CheckSettings& get() {
    static CheckSettings* const settings = new CheckSettings;
    return *settings;
  }
  std::shared_ptr<const CheckOptions> current() {
    const std::lock_guard guard(lock);
    return options;
  }
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
