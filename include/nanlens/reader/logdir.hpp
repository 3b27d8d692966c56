/// @file
/// A logdir: every run in a directory (or in whatever else holds the files), its sub-directories included.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <nanlens/reader/run.hpp>
#include <nanlens/reader/storage.hpp>

namespace nanlens::reader {

/// Opens every logdir that TensorFlow or nanlens wrote. Content never throws: faults become diagnostics, and everything
/// that is still readable is read. Not thread-safe.
class Logdir {
 public:
  explicit Logdir(std::unique_ptr<Storage> storage);
  /// A directory on disk.
  explicit Logdir(const std::string& directory);
  ~Logdir();

  /// Reads what is new: files that have grown, file sets that have appeared. True if there was anything. Where
  /// `progress` stopped it, the next call goes on.
  bool update(const Progress& progress = {});

  /// What could not be looked for, or prepared; empty if there is nothing. Where there are runs, the first tells it
  /// too.
  [[nodiscard]] Fault fault() const { return no_memory_ ? Fault(FaultId::no_memory_for_files) : fault_; }
  /// Where the files lie; what `prepare` makes ready is so after an update that was not stopped.
  [[nodiscard]] Storage& storage() const noexcept { return *storage_; }
  /// The runs, by the time they were started. A run's address stays valid as long as the Logdir; it leaves the list if
  /// its metadata, come late, shows it to be a host of another.
  [[nodiscard]] const std::vector<std::unique_ptr<Run>>& runs() const noexcept { return runs_; }
  /// The run with this id; null if there is none.
  [[nodiscard]] Run* find_run(const std::string& id) const;

 private:
  struct NewSet {
    std::string directory;
    std::unique_ptr<SetFiles> files;
    Diagnostics diagnostics;
  };

  bool read(const Progress& progress);

  // File sets of one directory with the same run id are hosts of one run; sets without a run id are a run each.
  static std::string key_of(const std::string& directory, const SetFiles& files);

  bool find_sets();

  NewSet opened(const std::string& directory, std::string stem);

  void add(NewSet set);

  // A set may be seen before its metadata: while it is made, or copied. It is a run of its own until then, and goes to
  // the run of its id afterwards. What was a run of its own stays in memory, for who still looks at it.
  bool settle_late();

  // What concerns no run is told with the first.
  void tell_fault();

  struct Late {
    std::string directory;
    std::string stem;
    Run* run;
  };

  std::unique_ptr<Storage> storage_;
  std::vector<std::unique_ptr<Run>> runs_;
  std::vector<std::unique_ptr<Run>> retired_;
  std::unordered_map<std::string, Run*> run_by_key_;
  std::unordered_set<std::string> known_;  // paths of sets that belong to a run
  std::vector<Late> late_;                 // sets whose metadata was not there yet
  Fault fault_;
  bool no_memory_ = false;
  std::string told_;
};

}  // namespace nanlens::reader

#if !defined(NANLENS_SPLIT)
#include <nanlens/reader/logdir.inl>
#endif
