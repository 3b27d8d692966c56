#include "report/muted_causes.hpp"

#include <algorithm>

namespace nanlens::report {

MutedCauses::MutedCauses(causes::SentenceWriter& writer, causes::Causes& causes, Mutes& mutes) {
  const auto compare = [&](std::uint32_t root) {
    if (all_++ >= most_compared || mutes.empty()) return;
    if (const Mute* const mark = mutes.match(mute_subject(causes.run(), writer.sentence(root))))
      marks_.emplace(root, mark);
  };
  for (const causes::CauseGroup& group : writer.groups().list()) compare(group.root);
  for (const causes::CauseGroup& group : writer.groups().expected()) compare(group.root);
  headline_ = writer.groups().headline();
  for (const causes::CauseGroup& group : writer.groups().list()) {
    if (marks_.contains(group.root)) continue;
    headline_ = group.root;
    break;
  }
}

bool MutedCauses::all_muted() const noexcept {
  return all_ > 0 && marks_.size() == std::min<std::uint64_t>(all_, most_compared);
}

std::vector<const Mute*> MutedCauses::marks() const {
  std::vector<const Mute*> all;
  for (const auto& [root, mark] : marks_)
    if (std::find(all.begin(), all.end(), mark) == all.end()) all.push_back(mark);
  return all;
}

std::string MutedCauses::words() const {
  if (marks_.empty()) return {};
  return viewer::tr(viewer::Text::out_causes_muted,
                    {{"n", muted()}, {"all", all_}, {"marks", mark_words(marks(), true, viewer::tongue())}});
}

std::string mark_words(const std::vector<const Mute*>& marks, bool reasons, viewer::Tongue in) {
  constexpr std::size_t shown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, marks.size()); ++i)
    text += (i == 0 ? "" : ", ") + marks[i]->place() + (reasons ? " (" + marks[i]->reason + ")" : "");
  if (marks.size() <= shown) return text;
  return viewer::tr(in, viewer::Text::out_more_lines, {{"places", text}, {"n", marks.size() - shown}});
}

}  // namespace nanlens::report
