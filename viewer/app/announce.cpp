// What a screen reader is told.
#include "app/app.hpp"
#include "widgets/format.hpp"

namespace nanlens::viewer {

std::string App::announcement() {
  if (overview.run < 0 || overview.loading) return {};
  const Verdict& v = overview.verdict;
  const std::string verdict = run().run_id + "/" + v.tensor + "/" + v.path;
  if (v.alert >= 0 && told_verdict_ != verdict) {
    if (!v.explained && status_.busy) return {};  // its cause is still being looked for
    told_verdict_ = verdict;
    if (!chosen_by_user_) told_focus_ = selection.focus;
    if (v.all_muted) return tr(Text::verdict_all_muted, {{"n", v.num_causes}, {"place", v.muted_by}});
    if (v.explained) return v.cause.sentence + " " + v.cause.consequence;
    return tr(Text::told_first, {{"tensor", v.tensor}, {"path", v.path}, {"line", v.line}});
  }
  const Focus& f = selection.focus;
  if (f == told_focus_) return {};
  told_focus_ = f;
  if (f.trace >= 0) {
    std::string text = tr(Text::told_row, {{"index", f.trace},
                                           {"total", run().num_traces},
                                           {"op", f.op_name},
                                           {"slot", f.slot},
                                           {"graph", selection.neighbourhood.graph_name}});
    const auto& outputs = selection.neighbourhood.outputs;
    if (f.slot >= 0 && static_cast<std::size_t>(f.slot) < outputs.size())
      text += ", " + format_badges(outputs[static_cast<std::size_t>(f.slot)].badges);
    if (selection.event_class != EventClass::clean) text.append(", ").append(class_text(selection.event_class));
    return text;
  }
  if (f.execution >= 0) return tr(Text::told_execution, {{"index", f.execution}, {"op", selection.card.op_type}});
  return {};
}

}  // namespace nanlens::viewer
