/// @file
/// Which of a job's processes this one is, by what launchers put into the environment: MPI is neither linked nor asked.
#pragma once

#include <unistd.h>
#include <charconv>
#include <cstdint>
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

/// A rank of several; none where the program was started alone.
struct Rank {
  std::int64_t number = -1;
  std::string job;  // a text that all its ranks have, and no other job; empty: not known

  /// As the environment has it now.
  static Rank find() {
    for (const Launcher& launcher : launchers) {
      const std::int64_t size = variable_number(launcher.size);
      const std::int64_t number = variable_number(launcher.rank);
      if (size > 1 && number >= 0 && number < size) return {number, job_of(launcher, size)};
    }
    return {};
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
};

}  // namespace NANLENS_HIDDEN logdir
}  // namespace nanlens::inline NANLENS_ABI
