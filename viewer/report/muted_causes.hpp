/// @file
/// Which causes of a run are meant to be: the one comparison of marks and causes for commands and viewers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nanlens/causes/sentence.hpp>

#include "report/mutes.hpp"
#include "texts/texts.hpp"

namespace nanlens::report {

/// No more causes of a run than these are compared with marks; `nanlens check` lists no more.
inline constexpr std::size_t most_compared = 1000;

/// The marks that mute causes of a run, for as long as no further file of marks is read.
class MutedCauses {
 public:
  MutedCauses(causes::SentenceWriter& writer, causes::Causes& causes, Mutes& mutes);

  /// The mark that mutes a root; null if none does.
  [[nodiscard]] const Mute* by(std::uint32_t root) const {
    const auto found = marks_.find(root);
    return found == marks_.end() ? nullptr : found->second;
  }
  /// The cause to show: the first that is not muted; the first of all if every one is; none if there is none.
  [[nodiscard]] std::uint32_t headline() const noexcept { return headline_; }
  /// "1 of 3 causes is muted, by nanlens.mutes:4 (the mask of padded tokens)"; empty if none is.
  [[nodiscard]] std::string words() const;
  /// The causes of the run, expected ones among them.
  [[nodiscard]] std::uint64_t all() const noexcept { return all_; }
  /// How many of them are muted.
  [[nodiscard]] std::uint64_t muted() const noexcept { return marks_.size(); }
  /// Is there a cause, and none that is not muted?
  [[nodiscard]] bool all_muted() const noexcept;
  /// The marks that mute anything, each once.
  [[nodiscard]] std::vector<const Mute*> marks() const;

 private:
  std::map<std::uint32_t, const Mute*> marks_;
  std::uint32_t headline_ = causes::none;
  std::uint64_t all_ = 0;
};

/// "nanlens.mutes:4, nanlens.mutes:7 and 2 more lines" in a language; with `reasons` each has its own in brackets.
std::string mark_words(const std::vector<const Mute*>& marks, bool reasons, viewer::Tongue in);

}  // namespace nanlens::report
