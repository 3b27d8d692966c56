/// @file
/// Groups of processes that exchange tensors, as PyTorch's gloo has them: a name for each that all its ranks have, and
/// the number of what a rank is about to exchange.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <nanlens/capture/hash.hpp>
#include <nanlens/config.hpp>
#include <nanlens/logdir/rank.hpp>

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

/// The messages of a group, by the other end and the tag: those of one kind don't overtake each other.
class MessageNumbers {
 public:
  /// From 1; 0 where it is not certain.
  std::uint64_t next(bool sent, std::int64_t peer, std::int64_t tag) {
    return are_lost().load() ? 0 : ++counts_[{sent, peer, tag}];
  }
  /// A message was not seen, or its sender not known: from here on no number is certain, in any group.
  static void lose() noexcept { are_lost().store(true); }

 private:
  static std::atomic<bool>& are_lost() noexcept {
    static std::atomic<bool> lost{false};
    return lost;
  }

  std::map<std::tuple<bool, std::int64_t, std::int64_t>, std::uint64_t> counts_;
};

/// A group that this process is in.
struct GroupFacts {
  std::uint64_t identity = 0;  ///< the same in all its ranks, and in no other group; 0: not known
  std::int32_t rank = 0;
  std::int32_t size = 0;
  const GlooGroup* gloo = nullptr;
  MessageNumbers messages;

  /// The number of the collective that is about to begin, from 1.
  [[nodiscard]] std::uint64_t next_collective() const noexcept { return std::uint64_t{gloo->collectives} + 1; }
};

/// The groups of this process.
class Groups {
 public:
  static Groups& get() {
    static auto* const groups = new Groups;
    return *groups;
  }

  /// Calls use(GroupFacts&), with no other thread meanwhile, if the group is gloo's.
  template <class Use>
  void with(::c10d::ProcessGroup& group, const Use& use) {
    if (!is_a(group, "N4c10d16ProcessGroupGlooE")) return;
    const std::lock_guard guard(lock_);
    Known& known = all_[&group];
    if (known.group.expired()) known = look_at(group);
    use(known.facts);
  }

 private:
  // A weak reference: nothing else takes the address of a group that has ended.
  using Weak = ::c10::weak_intrusive_ptr<::c10d::ProcessGroup>;
  struct Known {
    Weak group = Weak(::c10::intrusive_ptr<::c10d::ProcessGroup>());
    GroupFacts facts;
  };

  Known look_at(::c10d::ProcessGroup& group) {
    std::erase_if(all_, [&](const auto& entry) { return entry.first != &group && entry.second.group.expired(); });
    Known known;
    known.group = Weak(::c10::intrusive_ptr<::c10d::ProcessGroup>::unsafe_reclaim_from_nonowning(&group));
    GroupFacts& facts = known.facts;
    facts.rank = group.getRank();
    facts.size = group.getSize();
    facts.gloo = static_cast<const GlooGroup*>(&group);
    const std::string place = meeting_place(*facts.gloo);
    if (place.empty()) return known;
    // Once a program has ended all groups, it may make others that meet at the same places.
    const std::uint64_t which = detail::mix(detail::hash_text(place + logdir::Rank::get().job), ++met_at_[place]);
    facts.identity = detail::mix(which, static_cast<std::uint64_t>(facts.size)) | 1;
    return known;
  }

  std::mutex lock_;
  std::unordered_map<const ::c10d::ProcessGroup*, Known> all_;
  std::unordered_map<std::string, std::uint64_t> met_at_;
};

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
