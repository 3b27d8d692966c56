/// @file
/// Which causes of a run are meant to be, as `why` and `report` tell it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <nanlens/causes/sentence.hpp>

#include "report/mutes.hpp"

namespace nanlens::cli {

/// The marks that mute causes of a run, for as long as no further file of marks is read.
class MutedCauses {
 public:
  /// Compares the first causes, as many as `nanlens check` lists.
  MutedCauses(causes::SentenceWriter& writer, causes::Causes& causes, report::Mutes& mutes);

  /// The mark that mutes a root; null if none does.
  [[nodiscard]] const report::Mute* by(std::uint32_t root) const {
    const auto found = marks_.find(root);
    return found == marks_.end() ? nullptr : found->second;
  }
  /// The cause to show: the first that is not muted; the first of all if every one is; none if there is none.
  [[nodiscard]] std::uint32_t headline() const noexcept { return headline_; }
  /// "1 of 3 causes is muted, by nanlens.mutes:4 (the mask of padded tokens)"; empty if none is.
  [[nodiscard]] std::string words() const;

 private:
  std::map<std::uint32_t, const report::Mute*> marks_;
  std::uint32_t headline_ = causes::none;
  std::uint64_t all_ = 0;
};

}  // namespace nanlens::cli
