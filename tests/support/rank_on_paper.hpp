/// @file
/// Ranks of a job as a logdir has them, without the job.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/logdir/debug_event.hpp>
#include <nanlens/reader/reader.hpp>

#include "logdir_generator.hpp"

namespace nanlens::test {

/// One rank's executions: what it exchanged with others.
class RankOnPaper {
 public:
  RankOnPaper(int rank, double clock, int size = 2) : rank_(rank), size_(size), time_(clock) {
    logdir::append_event(metadata, time_,
                         logdir::DebugMetadata{"nanlens test", std::string(logdir::file_version), "job"});
  }
  /// An Allreduce of all ranks, of which this one puts in `bad` NaNs and gets `got`.
  void allreduce(double bad, double got) { allreduce_two({bad, -1}, {got, -1}); }
  /// The same of a buffer that two ops have made, the second of which with `bad` NaNs.
  void allreduce_parts(double bad, double got) {
    op("Copy", 0);
    const std::int64_t first = made_;
    op("Copy", bad);
    parts_ = {first, made_};
    allreduce(bad, got);
  }
  /// The same of two tensors at once, which an op has made.
  void split_and_allreduce(std::array<double, 2> bad, std::array<double, 2> got) {
    split(bad[0], bad[1]);
    parts_ = {made_, made_ + 1};
    allreduce_two(bad, got);
  }
  /// What its clock shows from now on.
  void set_time(double time) { time_ = time; }
  /// An op of this rank alone; what it makes is put into the next exchange.
  void op(const char* type, double bad, const char* name = "") { put(type, {}, {bad}, name); }
  /// What an op's output holds of each kind; the rest of its elements is positive.
  struct Counts {
    double nan = 0;
    double neg_inf = 0;
    double zero = 0;
    double pos_inf = 0;
    double size = 8;
  };
  /// An op of this rank alone that makes so many +∞ of so many elements, and an Allreduce of the least of it and what
  /// others have.
  void allreduce_least(double infinite, double elements) {
    put("Data", {}, {0, 0, 0, 0, elements});
    put("Limit", {}, {0, 0, 0, infinite});
    ++collectives_;
    logdir::Exchange e{
        logdir::ExchangeKind::all, false, false, logdir::Reduction::minimum, 99, collectives_, rank_, size_, 0, 0};
    put("MPI_Allreduce", e, {0, 0, 0, infinite});
    e.received = true;
    put("MPI_Allreduce", e, {}, "MPI_MIN");
  }
  /// An op that takes outputs of others, counted from 1 in the order in which they were made.
  void op_of(const char* type, std::vector<std::int64_t> outputs, Counts made) {
    parts_ = std::move(outputs);
    put(type, {}, made);
  }
  /// An op with two outputs, each with so many NaNs.
  void split(double bad, double second) { put("Split", {}, {bad}, "", second); }
  /// An instruction of which the program trapped the exception itself: it has no result.
  void trapped(const char* instruction, const char* what) {
    logdir::Execution e;
    e.op_type = instruction;
    e.tensor_debug_mode = 4;
    logdir::NanlensExtension extension;
    extension.op_name = what;
    extension.hits = 1;
    extension.fp_flags = 1 | logdir::fp_taken_by_program;
    logdir::append_event(executions, time_ += 1e-3, e, &extension);
  }
  /// An op whose output is complex, with a NaN: it has no summary.
  void complex_op(const char* type) {
    logdir::Execution e;
    e.op_type = type;
    e.num_outputs = 1;
    e.output_tensor_ids = {++ids_};
    e.tensor_debug_mode = 4;
    logdir::NanlensExtension extension;
    extension.outputs.emplace_back().nonfinite_complex = 1;
    logdir::append_event(executions, time_ += 1e-3, e, &extension);
  }
  /// A constant with infinities that nothing reads.
  void mask() {
    put("Const", {}, {0, 4});
    made_ = 0;
  }
  void message(bool received, int peer, std::uint64_t sequence, double bad) {
    put(received ? "MPI_Recv" : "MPI_Send",
        {logdir::ExchangeKind::message, received, false, logdir::Reduction::none, 99, sequence, rank_, size_, peer, 7},
        {bad});
  }
  /// Its files, into whatever takes a name and bytes by `append`.
  template <class Storage>
  void store(Storage& storage, const std::string& host = {}) const {
    const std::string name = host.empty() ? "host.rank" + std::to_string(rank_) : host;
    for (std::size_t i = 0; i < logdir::num_file_kinds; ++i) {
      const auto kind = static_cast<logdir::FileKind>(i);
      storage.append(generated_name(kind, name), kind == logdir::FileKind::metadata    ? metadata
                                                 : kind == logdir::FileKind::execution ? executions
                                                                                       : std::string());
    }
  }

  std::string metadata;
  std::string executions;

 private:
  void allreduce_two(std::array<double, 2> bad, std::array<double, 2> got) {
    ++collectives_;
    logdir::Exchange e{
        logdir::ExchangeKind::all, false, false, logdir::Reduction::sum, 99, collectives_, rank_, size_, 0, 0};
    put("MPI_Allreduce", e, {bad[0]}, "", bad[1]);
    e.received = true;
    put("MPI_Allreduce", e, {got[0]}, "", got[1]);
  }
  void put(const char* type, const logdir::Exchange& exchange, Counts made, const char* name = "", double second = -1) {
    const auto health = [](Counts c) {
      const double positive = c.size - c.nan - c.neg_inf - c.zero - c.pos_inf;
      const std::array<double, 11> values = {-1, -1, 1, 1, c.size, c.neg_inf, c.pos_inf, c.nan, 0, c.zero, positive};
      logdir::TensorProto proto;
      proto.dtype = 2;
      proto.shape = logdir::TensorShapeProto{{{11, ""}}, false};
      proto.tensor_content.assign(reinterpret_cast<const char*>(values.data()), sizeof values);
      return proto;
    };
    logdir::Execution e;
    e.op_type = type;
    e.num_outputs = 1;
    if (!exchange.received && made.neg_inf == 0) e.input_tensor_ids = {made_ != 0 ? made_ : ++ids_};
    if (!parts_.empty()) e.input_tensor_ids = std::exchange(parts_, {});
    e.output_tensor_ids = {++ids_};
    made_ = exchange.kind == logdir::ExchangeKind::none ? ids_ : 0;
    e.tensor_debug_mode = 4;
    e.tensor_protos = {health(made)};
    if (second >= 0) {
      e.num_outputs = 2;
      e.output_tensor_ids.push_back(++ids_);
      e.tensor_protos.push_back(health({second}));
    }
    logdir::NanlensExtension extension;
    extension.op_name = name;
    if (exchange.kind != logdir::ExchangeKind::none) extension.exchange = exchange;
    logdir::append_event(executions, time_ += 1e-3, e, &extension);
  }

  int rank_;
  int size_;
  double time_;
  std::uint64_t collectives_ = 0;
  std::int64_t ids_ = 0;
  std::int64_t made_ = 0;            // by the op just before: what is put in next, or taken
  std::vector<std::int64_t> parts_;  // of what is put in next
};

}  // namespace nanlens::test
