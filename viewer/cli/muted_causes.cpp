#include "muted_causes.hpp"

#include <algorithm>
#include <vector>

#include "findings/gather.hpp"
#include "findings/words.hpp"

namespace nanlens::cli {

MutedCauses::MutedCauses(causes::SentenceWriter& writer, causes::Causes& causes, report::Mutes& mutes) {
  const auto compare = [&](std::uint32_t root) {
    if (all_++ >= findings::most_findings) return;
    if (const report::Mute* const mark = mutes.match(report::mute_subject(causes.run(), writer.sentence(root))))
      marks_.emplace(root, mark);
  };
  for (const causes::CauseGroup& group : writer.groups().list()) compare(group.root);
  for (const std::uint32_t root : causes.benign()) compare(root);
  headline_ = writer.groups().headline();
  for (const causes::CauseGroup& group : writer.groups().list()) {
    if (marks_.contains(group.root)) continue;
    headline_ = group.root;
    break;
  }
}

std::string MutedCauses::words() const {
  constexpr std::size_t shown = 3;
  if (marks_.empty()) return {};
  std::vector<std::string> places;
  for (const auto& [root, mark] : marks_) {
    const std::string place = mark->place() + " (" + mark->reason + ")";
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
  }
  std::string text = report::with_separators(marks_.size()) + " of " + findings::counted(all_, "cause", "causes") +
                     (marks_.size() == 1 ? " is" : " are") + " muted, by ";
  for (std::size_t i = 0; i < std::min(shown, places.size()); ++i) text += (i == 0 ? "" : ", ") + places[i];
  if (places.size() > shown) text += " and " + findings::counted(places.size() - shown, "more line", "more lines");
  return text;
}

}  // namespace nanlens::cli
