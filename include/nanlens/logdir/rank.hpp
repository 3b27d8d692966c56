/// @file
/// Which of a job's processes this one is, by what launchers put into the environment: MPI is neither linked nor asked.
#pragma once

#include <unistd.h>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN logdir {

/// What a launcher calls the rank, the number of ranks, how many of them are on this host, and what all ranks of a job
/// have in common with each other and with no other job (in two parts, or none).
struct Launcher {
  const char* rank;
  const char* size;
  const char* local_size;
  const char* job;
  const char* part_of_job;
};

/// torchrun (whose ranks count, whatever started it), Open MPI, MPICH and Intel MPI, Slurm's srun.
inline constexpr Launcher launchers[] = {
    {"RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE", "PMIX_NAMESPACE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "", ""},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "", "SLURM_JOB_ID", "SLURM_STEP_ID"},
};

inline std::string_view variable_text(const char* name) noexcept {
  const char* const text = *name == '\0' ? nullptr : std::getenv(name);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

/// −1 for what is no number.
inline std::int64_t variable_number(const char* name) noexcept {
  const std::string_view text = variable_text(name);
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

/// What a file of /proc holds; empty where there is none.
inline std::string text_of_process_file(const std::string& path) {
  std::string text;
  if (std::FILE* const file = std::fopen(path.c_str(), "rb")) {
    char part[4096];
    while (const std::size_t read = std::fread(part, 1, sizeof part, file)) text.append(part, read);
    std::fclose(file);
  }
  return text;
}

/// A rank of several; none where the program was started alone.
struct Rank {
  std::int64_t number = -1;  // −1: it has none, or is not told it
  std::string job;           // a text that all its ranks have, and no other job; empty: not known

  /// As the environment has it now.
  static Rank find() {
    for (const Launcher& launcher : launchers) {
      const std::int64_t size = variable_number(launcher.size);
      const std::int64_t number = variable_number(launcher.rank);
      if (size > 1 && number >= 0 && number < size) return {number, job_of(launcher, size)};
    }
    return {-1, spawned_job()};
  }

  /// The one of this process, and of those forked from it.
  static const Rank& get() {
    static const Rank* const rank = new Rank(find());
    return *rank;
  }

  /// What a host's name in file names ends with.
  [[nodiscard]] std::string suffix() const { return number < 0 ? "" : ".rank" + std::to_string(number); }

 private:
  static std::string host() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
  }
  // torchrun calls every job "none" that was not given a name. Ranks of one host have their launcher as parent.
  static std::string job_of(const Launcher& launcher, std::int64_t size) {
    const std::string_view job = variable_text(launcher.job);
    const std::string_view part = variable_text(launcher.part_of_job);
    std::string text = launcher.rank;
    if (!job.empty() && job != "none" && !part.empty())
      text.append(job).append(".").append(part);
    else if (variable_number(launcher.local_size) == size)
      text += host() + "." + std::to_string(::getppid());
    else
      return {};
    return text;
  }
  // Those that Python's multiprocessing, and so torch.multiprocessing.spawn, starts afresh are told what they are by a
  // pipe: they have their parent in common.
  static std::string spawned_job() {
    if (text_of_process_file("/proc/self/cmdline").find("--multiprocessing-fork") == std::string::npos) return {};
    const std::string parent = std::to_string(::getppid());
    const std::string state = text_of_process_file("/proc/" + parent + "/stat");
    std::size_t at = state.rfind(')');  // its name may hold anything
    constexpr int fields_before_start = 20;
    for (int field = 0; field < fields_before_start && at != std::string::npos; ++field) at = state.find(' ', at + 1);
    if (at == std::string::npos) return {};
    return "multiprocessing." + host() + "." + parent + "." + state.substr(at + 1, state.find(' ', at + 1) - at - 1);
  }
};

}  // namespace NANLENS_HIDDEN logdir
}  // namespace nanlens::inline NANLENS_ABI
