/// @file
/// Groups of processes that exchange tensors: a name for each that all its ranks have, and the number of what a rank is
/// about to exchange.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <ATen/core/ivalue.h>  // ProcessGroup.hpp needs it whole

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <nanlens/capture/hash.hpp>
#include <nanlens/capture/platform.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/torch/exchange_ops.hpp>
#include <nanlens/hosts/torch/forks.hpp>
#if TORCH_VERSION_MAJOR == 1
#include <nanlens/hosts/torch/gloo_group.hpp>
#endif
#include <nanlens/logdir/rank.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN torch_host {

#if TORCH_VERSION_MAJOR == 1
inline constexpr bool gloo_counts = true;  ///< what it has begun is known; else it is counted here

inline bool is_followed(const ::c10d::ProcessGroup& group) noexcept { return is_a(group, "N4c10d16ProcessGroupGlooE"); }
inline std::string name_of_group(const ::c10d::ProcessGroup& group) {
  return meeting_place(static_cast<const GlooGroup&>(group));
}
inline std::uint64_t collectives_of(const ::c10d::ProcessGroup& group) noexcept {
  return static_cast<const GlooGroup&>(group).collectives;
}
#else
inline constexpr bool gloo_counts = false;

inline bool is_followed(const ::c10d::ProcessGroup& /*group*/) noexcept { return true; }
inline std::string name_of_group(const ::c10d::ProcessGroup& group) { return group.getGroupName(); }
inline std::uint64_t collectives_of(const ::c10d::ProcessGroup& /*group*/) noexcept { return 0; }
#endif

/// Whether all that is counted here has been seen, in all groups.
struct Counted {
  std::atomic<bool> messages{true};
  std::atomic<bool> collectives{true};

  static Counted& get() noexcept {
    static Counted counted;
    return counted;
  }
  /// One, or many, were not seen: from here on no number is certain.
  void lose_messages() noexcept { messages.store(false); }
  void lose_collectives() noexcept { collectives.store(gloo_counts); }
};

/// A group that this process is in. Numbers count from 1; 0: it is not certain.
struct GroupFacts {
  std::uint64_t identity = 0;  ///< the same in all its ranks, and in no other group; 0: not known
  std::int32_t rank = 0;
  std::int32_t size = 0;

  /// The collective that is about to begin.
  std::uint64_t next_collective(const ::c10d::ProcessGroup& group) {
    if (gloo_counts) return collectives_of(group) + 1;
    ++collectives;
    return Counted::get().collectives.load() ? collectives : 0;
  }
  /// The message that is. Those with one other end and one tag don't overtake each other, if one thread begins them
  /// all: which of two threads comes first, here and to gloo, nobody says.
  std::uint64_t next_message(bool sent, std::int64_t peer, std::int64_t tag) {
    if (!Counted::get().messages.load()) return 0;
    if (messages.size() >= most_kinds && !messages.contains({sent, peer, tag})) {
      Counted::get().lose_messages();
      messages.clear();
      return 0;
    }
    const std::uint64_t thread = nanlens::detail::thread_number();
    Messages& kind = messages[{sent, peer, tag}];
    if (kind.count++ == 0) kind.thread = thread;
    kind.certain = kind.certain && kind.thread == thread;
    return kind.certain ? kind.count : 0;
  }

 private:
  /// Of one other end and one tag.
  struct Messages {
    std::uint64_t count = 0;
    std::uint64_t thread = 0;
    bool certain = true;
  };
  static constexpr std::size_t most_kinds = 262'144;  // a program may give each message a tag of its own

  std::uint64_t collectives = 0;
  std::map<std::tuple<bool, std::int64_t, std::int64_t>, Messages> messages;
};

/// The groups of this process.
class Groups {
 public:
  static Groups& get() { return whole_in_each_process<Groups>(); }
  void lock() { lock_.lock(); }
  void unlock() { lock_.unlock(); }

  /// Calls use(GroupFacts&), with no other thread meanwhile, if the group is gloo's.
  template <class Use>
  void with(::c10d::ProcessGroup& group, const Use& use) {
    if (!is_followed(group)) return;
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
    const std::string name = name_of_group(group);
    if (name.empty()) return known;
    // Once a program has ended all groups, it may make others of the same names.
    const std::uint64_t which =
        detail::mix(detail::hash_text(name + "/" + logdir::Rank::get().job), ++known_names_[name]);
    facts.identity = detail::mix(which, static_cast<std::uint64_t>(facts.size)) | 1;
    return known;
  }

  std::mutex lock_;
  std::unordered_map<const ::c10d::ProcessGroup*, Known> all_;
  std::unordered_map<std::string, std::uint64_t> known_names_;
};

}  // namespace NANLENS_HIDDEN torch_host
}  // namespace nanlens::inline NANLENS_ABI
