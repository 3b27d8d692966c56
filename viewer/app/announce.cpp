// What a screen reader is told.
#include "app/app.hpp"

namespace nanlens::viewer {

std::string App::announcement() {
  if (overview.run < 0 || overview.loading) return {};
  const Verdict& v = overview.verdict;
  const std::string verdict = run().run_id + "/" + v.tensor + "/" + v.path;
  if (v.alert >= 0 && told_verdict_ != verdict) {
    if (!v.explained && status_.busy) return {};  // its cause is still being looked for
    told_verdict_ = verdict;
    if (!chosen_by_user_) told_focus_ = selection.focus;
    if (v.explained) return v.cause.sentence + " " + v.cause.consequence;
    return tr(Text::told_first, {{"tensor", v.tensor}, {"path", v.path}, {"line", v.line}});
  }
  const Focus& f = selection.focus;
  if (f == told_focus_) return {};
  told_focus_ = f;
  if (f.trace >= 0)
    return tr(Text::told_row,
              {{"index", f.trace}, {"op", f.op_name}, {"slot", f.slot}, {"graph", selection.neighbourhood.graph_name}});
  if (f.execution >= 0) return tr(Text::told_execution, {{"index", f.execution}, {"op", selection.card.op_type}});
  return {};
}

}  // namespace nanlens::viewer
