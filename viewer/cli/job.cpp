#include "job.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <system_error>
#include <thread>
#include <vector>

#include <nanlens/logdir/rank.hpp>

namespace nanlens::cli {

namespace {

namespace fs = std::filesystem;

// What the names of the marks of this job's ranks begin with.
std::string mark_prefix() { return ".rank-of-" + job_name() + "-"; }

std::vector<fs::path> ranks_at_work(const std::string& logdir) {
  const std::string prefix = mark_prefix();
  std::vector<fs::path> marks;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(logdir, error))
    if (entry.path().filename().string().starts_with(prefix)) marks.push_back(entry.path());
  return marks;
}

}  // namespace

std::string job_name() {
  const std::string& job = logdir::Rank::get().job;
  return job.empty() ? job : std::to_string(std::hash<std::string>{}(job));
}

bool tells_for_job() { return logdir::Rank::get().number <= 0 || job_name().empty(); }

RankAtWork::RankAtWork(const std::string& logdir) {
  if (tells_for_job()) return;
  path_ = logdir + "/" + mark_prefix() + std::to_string(logdir::Rank::get().number);
  std::ofstream mark(path_);
}

RankAtWork::~RankAtWork() {
  std::error_code error;
  if (!path_.empty()) fs::remove(path_, error);
}

void wait_for_ranks(const std::string& logdir) {
  if (job_name().empty()) return;
  constexpr int tenths_of_a_second = 100;
  for (int i = 0; i < tenths_of_a_second && !ranks_at_work(logdir).empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::error_code error;
  for (const fs::path& left : ranks_at_work(logdir)) fs::remove(left, error);
}

}  // namespace nanlens::cli
