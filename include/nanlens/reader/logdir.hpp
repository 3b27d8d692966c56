/// @file
/// A logdir: every run in a directory (or in whatever else holds the files), its sub-directories included.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/reader/run.hpp>
#include <nanlens/reader/storage.hpp>

namespace nanlens::reader {

/// Opens every logdir that TensorFlow or nanlens wrote. Content never throws: faults become diagnostics, and everything
/// that is still readable is read. Not thread-safe.
class Logdir {
 public:
  explicit Logdir(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
  /// A directory on disk.
  explicit Logdir(const std::string& directory) : Logdir(std::make_unique<DirectoryStorage>(directory)) {}

  /// Reads what is new: files that have grown, file sets that have appeared. True if there was anything. Where
  /// `progress` stopped it, the next call goes on.
  bool update(const Progress& progress = {}) {
    bool changed = find_sets();
    for (auto& run : runs_) changed = run->update(*storage_, progress) || changed;
    return changed;
  }

  /// The runs, by the time they were started. A run's address stays valid as long as the Logdir.
  [[nodiscard]] const std::vector<std::unique_ptr<Run>>& runs() const noexcept { return runs_; }
  /// The run with this id; null if there is none.
  [[nodiscard]] Run* find_run(const std::string& id) const {
    for (const auto& run : runs_)
      if (run->id() == id) return run.get();
    return nullptr;
  }

 private:
  // File sets of one directory with the same run id are hosts of one run; sets without a run id are a run each.
  bool find_sets() {
    struct NewSet {
      std::string directory;
      std::unique_ptr<SetFiles> files;
      Diagnostics diagnostics;
    };
    std::vector<NewSet> found;
    for (const std::string& name : storage_->list()) {
      const std::size_t slash = name.rfind('/');
      const std::string directory = slash == std::string::npos ? std::string{} : name.substr(0, slash + 1);
      std::string stem;
      logdir::FileKind kind{};
      if (!logdir::parse_file_name(std::string_view(name).substr(directory.size()), stem, kind)) continue;
      const std::string path = directory + stem;
      if (std::find(known_.begin(), known_.end(), path) != known_.end()) continue;
      known_.push_back(path);
      NewSet set{directory, std::make_unique<SetFiles>(directory, stem), {}};
      set.files->open_missing(*storage_, set.diagnostics);
      set.files->read_metadata(set.diagnostics);
      found.push_back(std::move(set));
    }
    std::sort(found.begin(), found.end(), [](const NewSet& a, const NewSet& b) {
      const double x = a.files->metadata.wall_time;
      const double y = b.files->metadata.wall_time;
      return x != y ? x < y : a.files->path() < b.files->path();
    });
    for (NewSet& set : found) {
      const std::string& id = set.files->metadata.run_id;
      const std::string key = set.directory + (id.empty() ? set.files->path() : id);
      Run* run = nullptr;
      for (std::size_t i = 0; i < keys_.size(); ++i)
        if (keys_[i] == key) run = runs_[i].get();
      if (run == nullptr) {
        runs_.push_back(std::make_unique<Run>(id));
        keys_.push_back(key);
        run = runs_.back().get();
      }
      run->adopt(std::move(set.files), set.diagnostics);
    }
    return !found.empty();
  }

  std::unique_ptr<Storage> storage_;
  std::vector<std::unique_ptr<Run>> runs_;
  std::vector<std::string> keys_;
  std::vector<std::string> known_;  // paths of sets that belong to a run
};

}  // namespace nanlens::reader
