// `nanlens why` for programs.
#include "why.hpp"

#include "report/describe.hpp"
#include "report/muted_causes.hpp"
#include "report/trapped.hpp"
#include "texts/fault_words.hpp"
#include "texts/speech.hpp"

namespace nanlens::cli {

namespace {

using causes::Causes;
using causes::EventRef;
using causes::SentenceWriter;
using reader::none;

Json event_json(Causes& causes, EventRef event) {
  Json j{{"row", event.is_execution ? Json(nullptr) : Json(event.index)},
         {"execution", event.is_execution ? Json(event.index) : Json(nullptr)},
         {"output_slot", event.slot},
         {"tensor", text_or_null(tensor_name(causes.model(), event))},
         {"op_type", text_or_null(std::string(causes.model().op_type(event)))},
         {"class", causes::class_name(causes.event_class(event))}};
  const auto recorder = causes.model().recorder(event);
  j["host_name"] = text_or_null(recorder.host);
  j["device_name"] = text_or_null(recorder.device);
  j["file_set"] = text_or_null(recorder.file_set);
  const std::int32_t rank = causes.run().rank_of_set(causes.model().set_of(event));
  j["job_rank"] = rank < 0 ? Json(nullptr) : Json(rank);
  if (!event.is_execution) {
    const std::uint32_t call = causes.model().owners().owner(event.index);
    if (call != none) j["execution"] = call;
    if (const auto digest = causes.run().trace_digest(event.index)) j["output_slot"] = digest->output_slot;
  }
  return j;
}

// What an input held when the op had run.
Json seen_json(const causes::InputEvidence& input) {
  constexpr const char* origins[] = {"not_recorded", "recorded", "part", "copy", "changed", "holds"};
  const auto origin = static_cast<std::size_t>(input.origin);
  return {{"origin", origin < std::size(origins) ? Json(origins[origin]) : Json(nullptr)},
          {"size", count_or_null(input.now.size)},
          {"num_nan", count_or_null(input.now.num_nan)},
          {"num_neg_inf", count_or_null(input.now.num_neg_inf)},
          {"num_pos_inf", count_or_null(input.now.num_pos_inf)},
          {"num_negative", count_or_null(input.now.num_negative)},
          {"num_zero", count_or_null(input.now.num_zero)},
          {"num_positive", count_or_null(input.now.num_positive)},
          {"name", text_or_null(input.name)}};
}

Json inputs_json(Causes& causes, const causes::Lineage& lineage) {
  Json list = Json::array();
  for (const auto& input : lineage.classification.inputs) {
    Json j{{"input", input.input},
           {"event", nullptr},
           {"bad", nullptr},
           {"confidence", number(static_cast<double>(input.link.confidence))},
           {"reason", text_or_null(std::string(causes::reason_words(input.link.reason, causes.model().owners().native(),
                                                                    viewer::speech())))}};
    if (input.event.exists()) {
      j["event"] = event_json(causes, input.event);
      j["bad"] = input.state == causes::InputState::bad;
    }
    if (input.shown_by.exists()) {
      j["bad"] = false;
      j["shown_by"] = event_json(causes, input.shown_by);
    }
    if (input.seen) j["seen"] = seen_json(input);
    list.push_back(std::move(j));
  }
  return list;
}

Json mute_json(const report::Mute* mark) {
  if (mark == nullptr) return nullptr;
  return {{"file", mark->file}, {"line", mark->line}, {"reason", mark->reason}};
}

Json root_json(SentenceWriter& writer, Causes& causes, const report::MutedCauses& muted, std::uint32_t number_of_root) {
  const auto& root = causes.roots()[number_of_root];
  const auto s = writer.sentence(number_of_root);
  const causes::CauseGroup* const group = writer.groups().find(number_of_root);
  return {{"id", "rc." + s.id},
          {"sentence", s.text},
          {"consequence", s.consequence},
          {"remedy", s.remedy},
          {"where", text_or_null(s.where)},
          {"arguments", s.arguments},
          {"class", causes::class_name(root.event_class)},
          {"confidence", number(static_cast<double>(causes.confidence(root)))},
          {"op_type", text_or_null(s.op_type)},
          {"op_name", text_or_null(s.op_name)},
          {"graph_id", text_or_null(s.graph_id)},
          {"host", text_or_null(s.host)},
          {"path", text_or_null(s.place.file_path)},
          {"line", s.place.line},
          {"inside_path", text_or_null(s.inside.file_path)},
          {"inside_line", s.inside.line},
          {"gradient_of_path", text_or_null(s.gradient_of.file_path)},
          {"gradient_of_line", s.gradient_of.line},
          {"reach", group != nullptr ? group->reach : root.reach},
          {"unknown_reach", group != nullptr ? group->unknown_reach : 0},
          {"occurrences", group != nullptr ? group->count : root.occurrences},
          {"may_follow", group != nullptr && muted.headline() != none && writer.may_follow(*group, muted.headline())},
          {"muted_by", mute_json(muted.by(number_of_root))},
          {"event", event_json(causes, root.event)},
          {"inputs", inputs_json(causes, causes.lineage(root.event))}};
}

Json chain_json(Causes& causes, EventRef event) {
  Json list = Json::array();
  for (const auto& step : causes.chain(event)) {
    Json j = event_json(causes, step.event);
    j["confidence"] = number(static_cast<double>(step.confidence));
    j["change"] = causes::change_words(step.change, viewer::speech());
    if (const auto frame = reader::user_frame(stack_of(causes.run(), step.event))) {
      j["path"] = text_or_null(frame->file_path);
      j["line"] = frame->line;
    }
    list.push_back(std::move(j));
  }
  return list;
}

Json numbers_json(const std::vector<double>& values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(number(value));
  return list;
}

// What the program trapped itself; of the operands the values.
Json trapped_json(Causes& causes, report::Mutes& mutes) {
  Json list = Json::array();
  for (const report::TrappedByProgram& trapped : report::trapped_by_program(causes.run(), mutes)) {
    Json operands = Json::array();
    for (const auto& operand : trapped.operands) operands.push_back(numbers_json(operand.values));
    list.push_back({{"execution", trapped.execution},
                    {"op_type", trapped.op_type},
                    {"what", trapped.what},
                    {"sentence", report::sentence_of(trapped.words())},
                    {"path", text_or_null(trapped.frame ? trapped.frame->file_path : std::string())},
                    {"line", trapped.frame ? trapped.frame->line : 0},
                    {"function", text_or_null(trapped.frame ? trapped.frame->function : std::string())},
                    {"hits", trapped.hits},
                    {"operands", std::move(operands)},
                    {"muted_by", mute_json(trapped.mute)}});
  }
  return list;
}

Json removed_json(Causes& causes) {
  Json list = Json::array();
  for (const auto& k : causes.killers())
    list.push_back(
        {{"op_name", k.op == none ? Json(nullptr) : text_or_null(std::string(causes.model().graphs().op_name(k.op)))},
         {"event", k.event.exists() ? event_json(causes, k.event) : Json(nullptr)},
         {"removed", event_json(causes, k.removed)},
         {"count", k.count}});
  return list;
}

}  // namespace

Json mute_problems_json(const report::Mutes& mutes) {
  Json list = Json::array();
  for (const auto& p : mutes.problems()) list.push_back({{"file", p.file}, {"line", p.line}, {"message", p.message()}});
  return list;
}

Json why_json(Causes& causes, EventRef asked, report::Mutes& mutes) {
  SentenceWriter writer(causes, viewer::speech());
  const report::MutedCauses muted(writer, causes, mutes);
  const std::uint32_t headline = muted.headline();
  const auto clean_end = causes.run().clean_end();
  Json j{{"run_id", text_or_null(causes.run().id())},
         {"total", causes.total()},
         {"explained", causes.explained()},
         {"dropped", causes.run().dropped()},
         {"unread_tensors", causes.run().unread_tensors()},
         {"kept_last", causes.run().kept_last()},
         {"left_out", left_out_json(causes.run().left_out())},
         {"clean_end", clean_end ? Json(*clean_end) : Json(nullptr)},
         {"rules", rule_outcomes_json(causes.run().rule_outcomes())},
         {"headline", headline != none ? root_json(writer, causes, muted, headline) : Json(nullptr)},
         {"causes", Json::array()},
         {"expected", Json::array()},
         {"removed_by", removed_json(causes)},
         {"trapped_by_program", trapped_json(causes, mutes)},
         {"clocks_match", causes.model().owners().matched()},
         {"limits_reached", Json::array()}};
  for (const causes::Limit limit : causes.model().limits_reached())
    j["limits_reached"].push_back(viewer::fault_words(causes::fault_of(limit)));
  for (const auto& group : writer.groups().list()) j["causes"].push_back(root_json(writer, causes, muted, group.root));
  for (const auto& group : writer.groups().expected())
    j["expected"].push_back(root_json(writer, causes, muted, group.root));
  const EventRef event = asked.exists() ? asked : headline != none ? causes.roots()[headline].last : EventRef{};
  if (event.exists()) {
    j["event"] = event_json(causes, event);
    j["chain"] = chain_json(causes, event);
    j["inputs"] = inputs_json(causes, causes.lineage(event));
  }
  return j;
}

}  // namespace nanlens::cli
