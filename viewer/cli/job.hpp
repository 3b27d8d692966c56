/// @file
/// The ranks of a job, each under a `nanlens run` of its own: one logdir, one answer.
#pragma once

#include <string>

namespace nanlens::cli {

/// A name that all ranks of this process's job find by themselves; empty if it is no rank, or its job is not known.
std::string job_name();

/// True for the rank that tells what came of it; for a process that is no rank, too.
bool tells_for_job();

/// That a rank other than the first one is not through with its program yet: a file in the logdir, while this lives.
class RankAtWork {
 public:
  explicit RankAtWork(const std::string& logdir);
  RankAtWork(const RankAtWork&) = delete;
  RankAtWork& operator=(const RankAtWork&) = delete;
  ~RankAtWork();

 private:
  std::string path_;  // empty: none is needed
};

/// Waits until the other ranks of the job are through, so that their records are whole; ten seconds at most, since one
/// may have died without a word.
void wait_for_ranks(const std::string& logdir);

}  // namespace nanlens::cli
