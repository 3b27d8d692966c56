// A whole logdir, edited and growing: the reader, causes, sentences and every question that either answers.
#include <cstdlib>

#include <nanlens/causes/causes.hpp>
#include <nanlens/causes/sentence.hpp>
#include <nanlens/reader/reader.hpp>

#include "edited_logdir.hpp"
#include "report/report.hpp"

namespace {

using namespace nanlens;

void require(bool holds) {
  if (!holds) std::abort();
}

void ask_reader(reader::Run& run) {
  (void)run.diagnostics();
  (void)run.hosts();
  (void)run.clean_end();
  for (std::size_t i = 0; i < run.num_executions(); ++i) (void)run.execution(i);
  for (std::size_t i = 0; i < run.num_traces(); ++i) {
    require(run.trace_op(i) < run.definitions().ops().size());
    require(run.trace_execution(i) == reader::none || run.trace_execution(i) < run.num_executions());
    (void)run.trace(i);
  }
  for (std::uint32_t i = 0; i < run.definitions().ops().size(); ++i)
    if (const auto op = run.op(i)) (void)reader::resolve_stack(run, op->event.code_location);
  for (std::size_t i = 0; i < run.source_files().size(); ++i) (void)run.source_lines(i);
  for (const auto& alert : run.alerts()) {
    const auto detail = run.alert(alert);
    require(!detail || detail->health.bad());
  }
}

void ask_causes(causes::Causes& causes) {
  while (!causes.advance(64)) {
  }
  causes::SentenceWriter writer(causes);
  for (std::uint32_t root = 0; root < causes.roots().size(); ++root) {
    const auto sentence = writer.sentence(root);
    require(sentence.text.find('{') == std::string::npos || sentence.text.find('}') == std::string::npos ||
            !sentence.arguments.empty());
    (void)causes.last_healthy(causes.roots()[root].event);
    (void)causes.origin(causes.roots()[root].event);
  }
  for (std::size_t i = 0; i < causes.total(); ++i) {
    const auto event = causes.event_of(i);
    (void)causes.lineage(event);
    require(!causes.chain(event).empty());
  }
  (void)causes.incidents();
  (void)causes.benign();
  (void)causes.by_site();
  require(causes.explained() <= causes.total());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Bytes input(data, size);
  auto storage = fuzz::edited_logdir(input);
  reader::MemoryStorage& files = *storage;
  reader::Logdir logdir(std::move(storage));
  // Half of the runs grow: a file gets further bytes after it has been read and explained.
  const bool grows = input.byte() % 2 != 0;
  int stops = input.byte() % 4;
  logdir.update([&](std::uint64_t, std::uint64_t) { return stops-- > 0; });
  logdir.update();
  for (const auto& run : logdir.runs()) {
    ask_reader(*run);
    causes::Causes causes(*run);
    ask_causes(causes);
    if (grows) {
      const auto names = files.list();
      const auto& base = fuzz::base_sets()[input.byte() % fuzz::base_sets().size()];
      const auto& records = base[input.byte() % base.size()];
      std::string more;
      for (std::size_t n = input.number(8); n > 0 && !records.empty(); --n)
        fuzz::append_record(more, records[input.number(records.size())]);
      files.append(names[input.number(names.size())], more);
      run->update(files, {});
      causes.run_has_grown();
      ask_reader(*run);
      ask_causes(causes);
    }
    (void)report::run_report(*run, run->alerts().empty() ? nullptr : &causes);
  }
  return 0;
}
