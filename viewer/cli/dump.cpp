#include <algorithm>
#include <functional>
#include <map>

#include "commands.hpp"
#include "json.hpp"
#include "open.hpp"

namespace nanlens::cli {

namespace {

using reader::Run;

// Half-open range of items, as given on the command line.
struct Range {
  std::size_t begin;
  std::size_t end;
};

Range range_of(const DumpOptions& options, std::size_t count) {
  if (options.begin < 0) throw Failure("--begin must not be negative");
  if (options.end < -1) throw Failure("--end must be -1 (all) or not negative");
  const auto size = static_cast<std::int64_t>(count);
  const std::int64_t end = options.end == -1 ? size : std::min(options.end, size);
  const std::int64_t begin = std::min(options.begin, end);
  return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
}

Json index_or_null(std::uint32_t index) { return index == reader::none ? Json(nullptr) : Json(index); }

Json host_of(const std::optional<logdir::CodeLocation>& location) {
  return location ? text_or_null(location->host_name) : Json(nullptr);
}

Json frames_of(const std::optional<logdir::CodeLocation>& location) {
  return location ? Json(location->stack_frame_ids) : Json::array();
}

// What was seen of tensors when something bad came out; null where nothing was.
Json evidence_of(const std::vector<logdir::TensorEvidence>& list) {
  if (list.empty()) return nullptr;
  Json all = Json::array();
  for (const auto& e : list) {
    Json axes = Json::array();
    for (const auto& axis : e.axes) axes.push_back({{"affected", axis.affected}, {"slices", axis.slices}});
    all.push_back({{"origin", static_cast<std::int32_t>(e.origin)},
                   {"looked_at", e.looked_at},
                   {"dtype", e.dtype},
                   {"shape", e.shape},
                   {"counts", e.counts},
                   {"positions", e.positions},
                   {"values", numbers(e.values)},
                   {"axes", axes},
                   {"content_bytes", e.content.size()},
                   {"recorded_id", e.recorded_id > 0 ? Json(e.recorded_id - 1) : Json(nullptr)},
                   {"recorded_graph_tensor_id", e.recorded_id < 0 ? Json(-1 - e.recorded_id) : Json(nullptr)},
                   {"recorded_graph_run", e.recorded_run > 0 ? Json(e.recorded_run) : Json(nullptr)},
                   {"name", text_or_null(e.name)},
                   {"values_hash", e.values_hash == 0 ? Json(nullptr) : Json(e.values_hash)},
                   {"written_over", e.written_over}});
  }
  return all;
}

// What an execution exchanged with those of other ranks; null for most.
Json exchange_of(const std::optional<logdir::Exchange>& exchange) {
  if (!exchange) return nullptr;
  constexpr const char* kinds[] = {"none", "all", "to_root", "from_root", "up_to", "before", "message"};
  constexpr const char* reductions[] = {"none", "sum", "product", "other", "minimum", "maximum"};
  const auto kind = static_cast<std::size_t>(exchange->kind);
  const auto reduction = static_cast<std::size_t>(exchange->reduction);
  return {{"kind", kind < std::size(kinds) ? Json(kinds[kind]) : Json(kind)},
          {"received", exchange->received},
          {"per_rank", exchange->per_rank},
          {"reduction", reduction < std::size(reductions) ? Json(reductions[reduction]) : Json(reduction)},
          {"communicator", exchange->communicator},
          {"sequence", exchange->sequence},
          {"rank", exchange->rank},
          {"size", exchange->size},
          {"peer", exchange->peer},
          {"tag", exchange->tag}};
}

Json rank_of(const Run& run, std::size_t set) {
  const std::int32_t rank = run.rank_of_set(set);
  return rank >= 0 ? Json(rank) : Json(nullptr);
}

void print_run(Run& run) {
  Json diagnostics = Json::array();
  for (const auto& d : run.diagnostics())
    diagnostics.push_back({{"file", text_or_null(d.file)}, {"offset", d.offset}, {"message", d.message()}});
  const std::optional<bool> clean = run.clean_end();
  const auto& graphs = run.definitions().graphs();
  print_line({{"run_id", text_or_null(run.id())},
              {"tensorflow_version", text_or_null(run.metadata().tensorflow_version)},
              {"file_version", text_or_null(run.metadata().file_version)},
              {"starting_wall_time", number(run.starting_wall_time())},
              {"hosts", run.hosts()},
              {"num_executions", run.num_executions()},
              {"num_traces", run.num_traces()},
              {"num_graphs", std::count_if(graphs.begin(), graphs.end(), [](const auto& g) { return g.declared; })},
              {"num_alerts", run.alerts().size()},
              {"dropped", run.dropped()},
              {"unread_tensors", run.unread_tensors()},
              {"kept_last", run.kept_last()},
              {"left_out", left_out_json(run.left_out())},
              {"clean_end", clean ? Json(*clean) : Json(nullptr)},
              {"rules", rule_outcomes_json(run.rule_outcomes())},
              {"diagnostics", diagnostics}});
}

void print_execution(Run& run, std::size_t i) {
  const auto detail = run.execution(i);
  if (!detail) return;
  const logdir::Execution& e = detail->event;
  Json values = nullptr;
  if (reader::has_debug_values(e.tensor_debug_mode) && !e.tensor_protos.empty()) {
    values = Json::array();
    for (const auto& v : detail->debug_tensor_values) values.push_back(v ? numbers(*v) : Json(nullptr));
  }
  print_line({{"index", i},
              {"wall_time", number(detail->wall_time)},
              {"op_type", e.op_type},
              {"op_name", text_or_null(detail->extension.op_name)},
              {"num_outputs", e.num_outputs},
              {"thread_id", extension_or_null(detail->extension.thread_id)},
              {"call_id", extension_or_null(detail->extension.call_id)},
              {"duration_ns", extension_or_null(detail->extension.duration_ns)},
              {"host_name", host_of(e.code_location)},
              {"graph_id", text_or_null(e.graph_id)},
              {"tensor_debug_mode", e.tensor_debug_mode},
              {"input_tensor_ids", e.input_tensor_ids},
              {"output_tensor_ids", e.output_tensor_ids},
              {"output_tensor_device_ids", e.output_tensor_device_ids},
              {"stack_frame_ids", frames_of(e.code_location)},
              {"debug_tensor_values", values},
              {"hits", extension_or_null(detail->extension.hits)},
              {"hits_at_least", detail->extension.hits_at_least},
              {"since_start_ns", extension_or_null(detail->extension.since_start_ns)},
              {"job_rank", rank_of(run, run.set_of_execution(i))},
              {"exchange", exchange_of(detail->extension.exchange)},
              {"rule_hits", rule_hits_json(detail->extension.rule_hits)},
              {"input_evidence", evidence_of(detail->extension.input_evidence)},
              {"output_evidence", evidence_of(detail->extension.output_evidence)}});
}

void print_trace(Run& run, std::size_t i) {
  const auto detail = run.trace(i);
  if (!detail) return;
  const logdir::GraphExecutionTrace& t = detail->event;
  print_line({{"index", i},
              {"wall_time", number(detail->wall_time)},
              {"op_type", text_or_null(detail->op_type)},
              {"op_name", text_or_null(t.op_name)},
              {"output_slot", t.output_slot},
              {"graph_id", text_or_null(t.tfdbg_context_id)},
              {"graph_ids", detail->graph_ids},
              {"device_name", text_or_null(t.device_name)},
              {"tensor_debug_mode", t.tensor_debug_mode},
              {"debug_tensor_value", detail->debug_tensor_value ? numbers(*detail->debug_tensor_value) : Json(nullptr)},
              {"execution_index", index_or_null(detail->execution)},
              {"thread_id", extension_or_null(detail->extension.thread_id)},
              {"call_id", extension_or_null(detail->extension.call_id)},
              {"job_rank", rank_of(run, run.set_of_trace(i))},
              {"rule_hits", rule_hits_json(detail->extension.rule_hits)},
              {"input_evidence", evidence_of(detail->extension.input_evidence)},
              {"output_evidence", evidence_of(detail->extension.output_evidence)}});
}

void print_graph(Run& run, std::size_t i) {
  const auto& table = run.definitions();
  const reader::Graph& g = table.graphs()[i];
  Json inner = Json::array();
  for (const std::uint32_t k : g.inner) inner.push_back(table.text(table.graphs()[k].id));
  print_line(
      {{"graph_id", table.text(g.id)},
       {"graph_name", text_or_null(std::string(table.text(g.name)))},
       {"outer_graph_id", g.outer == reader::none ? Json(nullptr) : Json(table.text(table.graphs()[g.outer].id))},
       {"inner_graph_ids", inner}});
}

void print_op(Run& run, std::uint32_t index) {
  const auto detail = run.op(index);
  if (!detail) return;
  const logdir::GraphOpCreation& op = detail->event;
  Json consumers = Json::array();
  for (const auto& slot : detail->consumers) {
    Json list = Json::array();
    for (const auto& c : slot) list.push_back({{"op_name", c.op_name}, {"input_slot", c.input_slot}});
    consumers.push_back(list);
  }
  print_line({{"graph_id", op.graph_id},
              {"graph_name", text_or_null(op.graph_name)},
              {"graph_ids", detail->graph_ids},
              {"wall_time", number(detail->wall_time)},
              {"op_name", op.op_name},
              {"op_type", op.op_type},
              {"num_outputs", op.num_outputs},
              {"input_names", op.input_names},
              {"output_tensor_ids", op.output_tensor_ids},
              {"host_name", host_of(op.code_location)},
              {"stack_frame_ids", frames_of(op.code_location)},
              {"consumers", consumers}});
}

void print_alert(Run& run, std::size_t i) {
  const auto alert = run.alert(run.alerts()[i]);
  if (!alert) return;
  print_line({{"index", i},
              {"alert_type", "InfNanAlert"},
              {"wall_time", number(alert->wall_time)},
              {"graph_id", text_or_null(alert->graph_id)},
              {"op_name", text_or_null(alert->op_name)},
              {"op_type", text_or_null(alert->op_type)},
              {"output_slot", alert->output_slot},
              {"size", count_or_null(alert->health.size)},
              {"num_neg_inf", count_or_null(alert->health.num_neg_inf)},
              {"num_pos_inf", count_or_null(alert->health.num_pos_inf)},
              {"num_nan", count_or_null(alert->health.num_nan)},
              {"execution_index", index_or_null(alert->execution)},
              {"graph_execution_trace_index", index_or_null(alert->trace)}});
}

void print_source_file(Run& run, std::size_t i, bool lines) {
  const auto& file = run.source_files()[i];
  Json object = {{"index", i},
                 {"host_name", text_or_null(file.host_name)},
                 {"file_path", text_or_null(file.file_path)},
                 {"num_lines", file.num_lines}};
  if (lines) object["lines"] = run.source_lines(i);
  print_line(object);
}

void print_frame(Run& run, std::size_t i) {
  const auto& entry = run.frames()[i];
  const auto frame = run.frame(entry.id);
  print_line({{"id", entry.id},
              {"host_name", frame ? text_or_null(frame->host_name) : Json(nullptr)},
              {"file_path", frame ? text_or_null(frame->file_path) : Json(nullptr)},
              {"line", entry.line},
              {"function", text_or_null(entry.function)}});
}

// Graphs and ops that are only referred to are not items of their own; diagnostics list them.
std::vector<std::uint32_t> declared_graphs(const Run& run) {
  std::vector<std::uint32_t> list;
  for (std::uint32_t i = 0; i < run.definitions().graphs().size(); ++i)
    if (run.definitions().graphs()[i].declared) list.push_back(i);
  return list;
}

std::vector<std::uint32_t> declared_ops(const Run& run) {
  std::vector<std::uint32_t> list;
  for (const auto& g : run.definitions().graphs()) list.insert(list.end(), g.ops.begin(), g.ops.end());
  return list;
}

template <class Print>
void each(const DumpOptions& options, std::size_t count, Print&& print) {
  const Range range = range_of(options, count);
  for (std::size_t i = range.begin; i < range.end; ++i) print(i);
}

}  // namespace

int dump(const DumpOptions& options) {
  std::ios::sync_with_stdio(false);
  const auto logdir = open_logdir(options.path);
  if (options.what == "runs") {
    each(options, logdir->runs().size(), [&](std::size_t i) {
      Run& run = *logdir->runs()[i];
      if (options.run.empty() || run.id() == options.run) print_run(run);
    });
    return 0;
  }
  Run& run = select_run(*logdir, options.run);
  const auto graphs = declared_graphs(run);
  const auto ops = options.what == "ops" ? declared_ops(run) : std::vector<std::uint32_t>{};
  const std::map<std::string, std::pair<std::size_t, std::function<void(std::size_t)>>> kinds = {
      {"executions", {run.num_executions(), [&](std::size_t i) { print_execution(run, i); }}},
      {"traces", {run.num_traces(), [&](std::size_t i) { print_trace(run, i); }}},
      {"graphs", {graphs.size(), [&](std::size_t i) { print_graph(run, graphs[i]); }}},
      {"ops", {ops.size(), [&](std::size_t i) { print_op(run, ops[i]); }}},
      {"alerts", {run.alerts().size(), [&](std::size_t i) { print_alert(run, i); }}},
      {"source_files", {run.source_files().size(), [&](std::size_t i) { print_source_file(run, i, options.lines); }}},
      {"stack_frames", {run.frames().size(), [&](std::size_t i) { print_frame(run, i); }}},
      {"devices",
       {run.devices().size(),
        [&](std::size_t i) {
          const auto& device = run.devices()[i];
          print_line({{"device_id", device.device_id}, {"device_name", text_or_null(device.device_name)}});
        }}},
  };
  const auto& [count, print] = kinds.at(options.what);
  each(options, count, print);
  return 0;
}

}  // namespace nanlens::cli
