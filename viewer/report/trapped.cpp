#include "trapped.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <nanlens/causes/event.hpp>
#include <nanlens/causes/stack_of.hpp>

#include "describe.hpp"
#include "texts/texts.hpp"

namespace nanlens::report {

MuteSubject TrappedByProgram::subject() const {
  return {trapped_rule,           op_type, what.empty() ? op_type : what, {}, frame ? frame->file_path : std::string(),
          frame ? frame->line : 0};
}

std::string TrappedByProgram::place() const { return frame ? line_or_function(*frame) : std::string(); }

std::string TrappedByProgram::words() const {
  using viewer::Text;
  const std::string at = place();
  if (at.empty()) return viewer::tr(Text::trapped_itself, {{"op", op()}});
  return viewer::tr(Text::trapped_itself_at, {{"op", op()}, {"place", at}});
}

std::vector<TrappedByProgram> trapped_by_program(reader::Run& run, Mutes& mutes, std::size_t most) {
  std::vector<TrappedByProgram> all;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> known;
  std::size_t read = 0;
  for (const reader::HiddenException& exception : run.hidden_exceptions()) {
    if (!exception.taken_by_program()) continue;
    if (++read > most) break;
    const auto detail = run.execution(exception.event);
    if (!detail) continue;
    TrappedByProgram one;
    one.execution = one.last = exception.event;
    one.op_type = detail->event.op_type;
    one.what = detail->extension.op_name;
    one.frame = reader::user_frame(causes::stack_of(run, causes::execution_event(exception.event, 0)));
    one.hits = std::max<std::uint64_t>(detail->extension.hits, 1);
    one.operands = detail->extension.input_evidence;
    const auto [found, is_new] = known.try_emplace({one.op_type, one.what, one.place()}, all.size());
    if (is_new) {
      all.push_back(std::move(one));
      continue;
    }
    TrappedByProgram& before = all[found->second];
    before.last = one.last;
    before.hits = std::max(before.hits, one.hits);
  }
  for (TrappedByProgram& trapped : all) trapped.mute = mutes.match(trapped.subject());
  return all;
}

}  // namespace nanlens::report
