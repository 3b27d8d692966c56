// Part of logdir.hpp: how file sets become runs.
#pragma once

#include <algorithm>
#include <utility>

#include <nanlens/reader/directory_storage.hpp>
#include <nanlens/reader/live_storage.hpp>

namespace nanlens::reader {

NANLENS_API Logdir::Logdir(std::unique_ptr<Storage> storage)
    : storage_(std::make_unique<LiveStorage>(std::move(storage))) {}

NANLENS_API Logdir::Logdir(const std::string& directory) : Logdir(std::make_unique<DirectoryStorage>(directory)) {}

NANLENS_API Logdir::~Logdir() = default;

NANLENS_API bool Logdir::update(const Progress& progress) {
  bool changed = false;
  if (!with_memory([&] { changed = read(progress); })) changed = no_memory_ = true;
  return changed;
}

NANLENS_API Run* Logdir::find_run(const std::string& id) const {
  for (const auto& run : runs_)
    if (run->id() == id) return run.get();
  return nullptr;
}

NANLENS_API bool Logdir::read(const Progress& progress) {
  if (!storage_->prepare(progress)) return true;
  bool changed = find_sets();
  for (auto& run : runs_) changed = run->update(*storage_, progress) || changed;
  tell_fault();
  return changed;
}

NANLENS_API std::string Logdir::key_of(const std::string& directory, const SetFiles& files) {
  const std::string& id = files.metadata.run_id;
  return directory + (id.empty() ? files.path() : id);
}

NANLENS_API bool Logdir::find_sets() {
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

NANLENS_API Logdir::NewSet Logdir::opened(const std::string& directory, std::string stem) {
  NewSet set{directory, std::make_unique<SetFiles>(directory, std::move(stem)), {}};
  set.files->open_missing(*storage_, set.diagnostics);
  set.files->read_metadata(set.diagnostics);
  return set;
}

NANLENS_API void Logdir::add(NewSet set) {
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

NANLENS_API bool Logdir::settle_late() {
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

NANLENS_API void Logdir::tell_fault() {
  if (fault_.empty()) fault_ = storage_->fault();
  const std::string now = words(fault());
  if (now.empty() || runs_.empty() || std::exchange(told_, now) == now) return;
  runs_.front()->add_fault({"", 0, fault()});
}

}  // namespace nanlens::reader
