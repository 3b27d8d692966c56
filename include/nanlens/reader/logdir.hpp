/// @file
/// A logdir: every run in a directory (or in whatever else holds the files), its sub-directories included.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <nanlens/reader/directory_storage.hpp>
#include <nanlens/reader/live_storage.hpp>
#include <nanlens/reader/run.hpp>
#include <nanlens/reader/storage.hpp>

namespace nanlens::reader {

/// Opens every logdir that TensorFlow or nanlens wrote. Content never throws: faults become diagnostics, and everything
/// that is still readable is read. Not thread-safe.
class Logdir {
 public:
  explicit Logdir(std::unique_ptr<Storage> storage) : storage_(std::make_unique<LiveStorage>(std::move(storage))) {}
  /// A directory on disk.
  explicit Logdir(const std::string& directory) : Logdir(std::make_unique<DirectoryStorage>(directory)) {}

  /// Reads what is new: files that have grown, file sets that have appeared. True if there was anything. Where
  /// `progress` stopped it, the next call goes on.
  bool update(const Progress& progress = {}) {
    bool changed = false;
    if (!with_memory([&] { changed = read(progress); })) changed = no_memory_ = true;
    return changed;
  }

  /// What could not be looked for, or prepared; empty if there is nothing. Where there are runs, the first tells it
  /// too.
  [[nodiscard]] Fault fault() const { return no_memory_ ? Fault(FaultId::no_memory_for_files) : fault_; }
  /// Where the files lie; what `prepare` makes ready is so after an update that was not stopped.
  [[nodiscard]] Storage& storage() const noexcept { return *storage_; }
  /// The runs, by the time they were started. A run's address stays valid as long as the Logdir; it leaves the list if
  /// its metadata, come late, shows it to be a host of another.
  [[nodiscard]] const std::vector<std::unique_ptr<Run>>& runs() const noexcept { return runs_; }
  /// The run with this id; null if there is none.
  [[nodiscard]] Run* find_run(const std::string& id) const {
    for (const auto& run : runs_)
      if (run->id() == id) return run.get();
    return nullptr;
  }

 private:
  struct NewSet {
    std::string directory;
    std::unique_ptr<SetFiles> files;
    Diagnostics diagnostics;
  };

  bool read(const Progress& progress) {
    if (!storage_->prepare(progress)) return true;
    bool changed = find_sets();
    for (auto& run : runs_) changed = run->update(*storage_, progress) || changed;
    tell_fault();
    return changed;
  }

  // File sets of one directory with the same run id are hosts of one run; sets without a run id are a run each.
  static std::string key_of(const std::string& directory, const SetFiles& files) {
    const std::string& id = files.metadata.run_id;
    return directory + (id.empty() ? files.path() : id);
  }

  bool find_sets() {
    std::vector<NewSet> found;
    for (const std::string& name : storage_->list(logdir::file_prefix)) {
      const std::size_t slash = name.rfind('/');
      const std::string directory = slash == std::string::npos ? std::string{} : name.substr(0, slash + 1);
      std::string stem;
      logdir::FileKind kind{};
      if (!logdir::parse_file_name(std::string_view(name).substr(directory.size()), stem, kind)) continue;
      if (known_.size() == limits::file_sets && !known_.contains(directory + stem)) {
        fault_ = {FaultId::too_many_file_sets, {{"n", limits::file_sets}}};
        break;
      }
      if (known_.insert(directory + stem).second) found.push_back(opened(directory, std::move(stem)));
    }
    std::sort(found.begin(), found.end(), [](const NewSet& a, const NewSet& b) {
      const double x = a.files->metadata.wall_time;
      const double y = b.files->metadata.wall_time;
      return earlier(x, y) || (!earlier(y, x) && a.files->path() < b.files->path());
    });
    const bool any = !found.empty();
    for (NewSet& set : found) add(std::move(set));
    return settle_late() || any;
  }

  NewSet opened(const std::string& directory, std::string stem) {
    NewSet set{directory, std::make_unique<SetFiles>(directory, std::move(stem)), {}};
    set.files->open_missing(*storage_, set.diagnostics);
    set.files->read_metadata(set.diagnostics);
    return set;
  }

  void add(NewSet set) {
    const bool late = !set.files->metadata.readable;
    const std::string key = key_of(set.directory, *set.files);
    const std::string stem = set.files->path().substr(set.directory.size());
    Run* run = nullptr;
    if (const auto known = run_by_key_.find(key); known != run_by_key_.end()) {
      run = known->second;
      run->adopt(std::move(set.files), set.diagnostics);
    } else {
      auto made = std::make_unique<Run>(set.files->metadata.run_id);
      made->adopt(std::move(set.files), set.diagnostics);
      runs_.push_back(std::move(made));
      run = run_by_key_[key] = runs_.back().get();
    }
    if (late) late_.push_back({set.directory, stem, run});
  }

  // A set may be seen before its metadata: while it is made, or copied. It is a run of its own until then, and goes to
  // the run of its id afterwards. What was a run of its own stays in memory, for who still looks at it.
  bool settle_late() {
    bool any = false;
    for (std::size_t i = 0; i < late_.size();) {
      Run* const alone = late_[i].run;
      SetFiles* const files = alone->only_set();
      Diagnostics faults;
      if (files != nullptr) {
        files->open_missing(*storage_, faults);
        files->read_metadata(faults);
      }
      for (const Diagnostic& fault : faults.list()) alone->add_fault(fault);
      if (files == nullptr || !files->metadata.readable) {
        ++i;
        continue;
      }
      const Late set = late_[i];
      late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(i));
      any = true;
      if (files->metadata.run_id.empty()) continue;
      const std::string key = set.directory + files->metadata.run_id;
      run_by_key_.erase(set.directory + files->path());
      if (run_by_key_.try_emplace(key, alone).second) {
        alone->rename(files->metadata.run_id);
        continue;
      }
      const auto place = std::find_if(runs_.begin(), runs_.end(), [&](const auto& run) { return run.get() == alone; });
      retired_.push_back(std::move(*place));
      runs_.erase(place);
      NewSet again = opened(set.directory, set.stem);
      run_by_key_[key]->adopt(std::move(again.files), again.diagnostics);
    }
    return any;
  }

  // What concerns no run is told with the first.
  void tell_fault() {
    if (fault_.empty()) fault_ = storage_->fault();
    const std::string now = words(fault());
    if (now.empty() || runs_.empty() || std::exchange(told_, now) == now) return;
    runs_.front()->add_fault({"", 0, fault()});
  }

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
