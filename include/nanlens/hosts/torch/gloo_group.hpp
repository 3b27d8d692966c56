/// @file
/// What PyTorch 1.13 knows of a group of processes that exchange tensors by gloo, and tells nobody: where they meet,
/// and how many collectives they have begun.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

/// True if an object is of a class, told by its name: what is not linked can't be asked otherwise.
template <class Object>
bool is_a(const Object& object, std::string_view mangled) noexcept {
  return typeid(object).name() == mangled;
}

// The members of c10d::ProcessGroupGloo, whose own header needs gloo's.
struct GlooGroup : ::c10d::ProcessGroup {
  struct Store {
    virtual ~Store();
    ::c10d::Store* wrapped;
  };
  Store* store;
  void* options;
  std::vector<std::shared_ptr<void>> contexts;
  std::vector<void*> threads;
  bool stop;
  std::uint32_t collectives;  // begun so far: gloo itself tells by it what belongs together
};
struct OpenPrefixStore : ::c10d::PrefixStore {
  static const std::string& prefix_of(const ::c10d::PrefixStore& store) { return store.*(&OpenPrefixStore::prefix_); }
  static const ::c10d::Store& inner_of(const ::c10d::PrefixStore& store) {
    return *(store.*(&OpenPrefixStore::store_));
  }
};

/// Where ranks of a group find each other: "0/default_pg", no other group's of the job at the same time; empty where
/// that can't be told.
inline std::string meeting_place(const GlooGroup& group) {
  std::string place;
  if (group.store == nullptr || !is_a(*group.store, "N4c10d16ProcessGroupGloo9GlooStoreE")) return place;
  for (const ::c10d::Store* at = group.store->wrapped; is_a(*at, "N4c10d11PrefixStoreE");) {
    const auto& prefixed = static_cast<const ::c10d::PrefixStore&>(*at);
    place += OpenPrefixStore::prefix_of(prefixed) + "/";
    at = &OpenPrefixStore::inner_of(prefixed);
  }
  return place;
}

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
