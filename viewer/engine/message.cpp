#include "message.hpp"

#include <cstring>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace nanlens::viewer {

namespace {

// The members of every struct, for reading and writing alike.
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Badge>
void fields(V& v, M& m) {
  v(m.kind, m.number, m.text);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Focus>
void fields(V& v, M& m) {
  v(m.execution, m.trace, m.graph_id, m.op_name, m.slot);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Open>
void fields(V& v, M& m) {
  v(m.paths, m.generation);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Close>
void fields(V&, M&) {}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, SelectRun>
void fields(V& v, M& m) {
  v(m.run);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Cancel>
void fields(V&, M&) {}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Reload>
void fields(V& v, M& m) {
  v(m.quiet);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Export>
void fields(V& v, M& m) {
  v(m.what, m.csv);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Exported>
void fields(V& v, M& m) {
  v(m.what, m.csv, m.first, m.complete, m.lines, m.total, m.text);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Select>
void fields(V& v, M& m) {
  v(m.kind, m.index, m.by_op, m.focus);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, View>
void fields(V& v, M& m) {
  v(m.tongue, m.filter, m.only_bad, m.sort, m.sort_descending, m.row_first, m.row_count, m.minimap_cells, m.pinned,
    m.time_mode, m.timeline_begin, m.timeline_end, m.timeline_columns, m.overview_columns, m.alerts_by, m.alerts_folded,
    m.alerts_expected, m.alerts_first, m.alerts_count, m.source_host, m.source_path, m.beside_host, m.beside_path,
    m.hops, m.diagnostics, m.search);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Request>
void fields(V& v, M& m) {
  v(m.serial, m.what);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, RunInfo>
void fields(V& v, M& m) {
  v(m.run_id, m.version, m.start, m.num_executions, m.num_traces, m.num_alerts, m.num_graphs, m.mode);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, CauseLine>
void fields(V& v, M& m) {
  v(m.id, m.sentence, m.consequence, m.remedy, m.event_class, m.tensor, m.op_type, m.op_name, m.graph_id, m.path,
    m.line, m.execution, m.trace, m.slot, m.reach);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, ChainStep>
void fields(V& v, M& m) {
  v(m.tensor, m.execution, m.trace, m.slot, m.event_class, m.doubt, m.change, m.path, m.line, m.badges);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, RemovedLine>
void fields(V& v, M& m) {
  v(m.op, m.removed, m.to_integers, m.execution, m.trace, m.count);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Explanation>
void fields(V& v, M& m) {
  v(m.complete, m.done, m.total, m.explained, m.num_causes, m.dropped, m.causes, m.expected, m.removed);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Verdict>
void fields(V& v, M& m) {
  v(m.alert, m.tensor, m.op_type, m.badges, m.graph_name, m.path, m.line, m.code, m.execution, m.trace, m.explained,
    m.cause, m.total, m.num_expected);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Overview>
void fields(V& v, M& m) {
  v(m.open, m.name, m.error, m.runs, m.run, m.loading, m.stopped, m.bytes_done, m.bytes_total, m.num_diagnostics,
    m.verdict, m.memory_bytes, m.generation);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Row>
void fields(V& v, M& m) {
  v(m.index, m.op_name, m.slot, m.op_type, m.graph_id, m.graph_name, m.device, m.time, m.execution, m.bad,
    m.event_class, m.call_begins, m.call, m.badges);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Rows>
void fields(V& v, M& m) {
  v(m.total, m.shown, m.complete, m.sorting, m.filter, m.filter_error, m.error_begin, m.error_end, m.filter_note,
    m.first, m.rows, m.focus_position, m.position_before_focus, m.minimap, m.pinned);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Box>
void fields(V& v, M& m) {
  v(m.index, m.op_type, m.function, m.bad, m.time, m.at, m.device, m.outputs);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Gap>
void fields(V& v, M& m) {
  v(m.begin, m.seconds, m.width, m.left_out);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Density>
void fields(V& v, M& m) {
  v(m.count, m.functions, m.bad);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Timeline>
void fields(V& v, M& m) {
  v(m.total, m.duration, m.time_mode, m.gaps, m.begin, m.end, m.boxes, m.columns, m.overview);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, TensorInfo>
void fields(V& v, M& m) {
  v(m.name, m.tensor_id, m.badges, m.bad, m.event_class, m.execution, m.slot, m.trace);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Card>
void fields(V& v, M& m) {
  v(m.index, m.op_type, m.function, m.graph_id, m.graph_name, m.device, m.host, m.time, m.wall_time, m.duration, m.mode,
    m.first_row, m.num_rows, m.inputs, m.outputs);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, OpCard>
void fields(V& v, M& m) {
  v(m.op_name, m.op_type, m.slot, m.parent, m.known, m.bad, m.event_class, m.trace, m.badges);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Crumb>
void fields(V& v, M& m) {
  v(m.graph_id, m.name);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Boundary>
void fields(V& v, M& m) {
  v(m.exists, m.argument, m.function, m.tensor, m.badges, m.known, m.bad, m.execution, m.trace);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Neighbourhood>
void fields(V& v, M& m) {
  v(m.graph_id, m.graph_name, m.crumbs, m.op_name, m.op_type, m.device, m.known, m.outputs, m.inputs, m.consumers,
    m.farther_inputs, m.farther_consumers, m.boundary, m.call, m.num_ops, m.num_instances, m.num_bad_instances);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Frame>
void fields(V& v, M& m) {
  v(m.host, m.path, m.line, m.function, m.own, m.has_text);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Stack>
void fields(V& v, M& m) {
  v(m.exists, m.execution, m.op_name, m.op_type, m.host, m.frames, m.missing);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Selection>
void fields(V& v, M& m) {
  v(m.serial, m.focus, m.alert, m.alert_site, m.card, m.has_neighbourhood, m.neighbourhood, m.stack, m.input_rows,
    m.consumer_rows, m.caller_row, m.event_class, m.doubt, m.cause, m.chain, m.notice);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, AlertLine>
void fields(V& v, M& m) {
  v(m.group, m.key, m.text, m.op_type, m.count, m.sparkline, m.index, m.op_name, m.output_slot, m.execution, m.trace,
    m.call, m.graph_name, m.event_class, m.badges);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Alerts>
void fields(V& v, M& m) {
  v(m.total, m.by, m.num_lines, m.first, m.lines, m.line_of_focus);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, LineMark>
void fields(V& v, M& m) {
  v(m.line, m.ops, m.bad, m.list, m.graph_ids);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Source>
void fields(V& v, M& m) {
  v(m.host, m.path, m.found, m.lines, m.marks);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Fault>
void fields(V& v, M& m) {
  v(m.file, m.offset, m.message);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Diagnostics>
void fields(V& v, M& m) {
  v(m.list);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Found>
void fields(V& v, M& m) {
  v(m.title, m.note, m.graph_id, m.op_name, m.path, m.host);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Search>
void fields(V& v, M& m) {
  v(m.text, m.list);
}
template <class V, class M>
  requires std::is_same_v<std::remove_const_t<M>, Status>
void fields(V& v, M& m) {
  v(m.serial, m.busy);
}

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}
  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    else
      fields(*this, value);
  }
  void put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    out_ += text;
  }
  template <class T>
  void put(const std::vector<T>& list) {
    put(static_cast<std::uint32_t>(list.size()));
    for (const T& item : list) put(item);
  }
  template <class... T>
  void put(const std::variant<T...>& value) {
    put(static_cast<std::uint8_t>(value.index()));
    std::visit([this](const auto& what) { this->put(what); }, value);
  }

  std::string& out_;
};

class Reader {
 public:
  Reader(const char* bytes, std::size_t size) : at_(bytes), end_(bytes + size) {}
  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  [[nodiscard]] bool complete() const { return !failed_ && at_ == end_; }

 private:
  template <class T>
  void get(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      take(&value, sizeof value);
    else
      fields(*this, value);
  }
  void get(std::string& text) {
    std::uint32_t size = 0;
    get(size);
    if (size > left()) return fail();
    text.assign(at_, size);
    at_ += size;
  }
  template <class T>
  void get(std::vector<T>& list) {
    std::uint32_t size = 0;
    get(size);
    if (size > left()) return fail();  // every item takes a byte at least
    list.resize(size);
    for (T& item : list) get(item);
  }
  template <class... T>
  void get(std::variant<T...>& value) {
    std::uint8_t index = 0;
    get(index);
    if (index >= sizeof...(T)) return fail();
    get_alternative(value, index, std::index_sequence_for<T...>{});
  }
  template <class V, std::size_t... I>
  void get_alternative(V& value, std::size_t index, std::index_sequence<I...>) {
    ((I == index ? get(value.template emplace<I>()) : void()), ...);
  }
  void take(void* to, std::size_t size) {
    if (size > left()) return fail();
    std::memcpy(to, at_, size);
    at_ += size;
  }
  void fail() {
    failed_ = true;
    at_ = end_;
  }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  const char* at_;
  const char* end_;
  bool failed_ = false;
};

}  // namespace

void write_message(const Request& request, std::string& out) {
  Writer w(out);
  w(request);
}
void write_message(const Reply& reply, std::string& out) {
  Writer w(out);
  w(reply);
}

bool read_message(const char* bytes, std::size_t size, Request& request) {
  Reader r(bytes, size);
  r(request);
  return r.complete();
}

bool read_message(const char* bytes, std::size_t size, Reply& reply) {
  Reader r(bytes, size);
  r(reply);
  return r.complete();
}

}  // namespace nanlens::viewer
