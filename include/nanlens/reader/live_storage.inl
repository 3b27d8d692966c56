// Part of live_storage.hpp.
#pragma once

namespace nanlens::reader {

NANLENS_API std::uint64_t LiveSource::size() { return file_bytes() + set_->tail_of(kind_).size(); }

NANLENS_API std::size_t LiveSource::read(std::uint64_t offset, unsigned char* to, std::size_t count) {
  const std::string& tail = set_->tail_of(kind_);
  if (tail.empty() && offset + count <= set_->bytes_of(kind_)) return file_->read(offset, to, count);
  const std::uint64_t bytes = file_bytes();
  std::size_t done = 0;
  if (offset < bytes) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(count, bytes - offset));
    done = file_->read(offset, to, wanted);
    if (done < wanted) return done;
  }
  if (done == count || offset + done < bytes || offset + done - bytes >= tail.size()) return done;
  const auto from = static_cast<std::size_t>(offset + done - bytes);
  const std::size_t n = std::min(count - done, tail.size() - from);
  std::memcpy(to + done, tail.data() + from, n);
  return done + n;
}

NANLENS_API bool LiveStorage::prepare(const Progress& progress) { return files_->prepare(progress); }

NANLENS_API std::vector<std::string> LiveStorage::list(std::string_view prefix) {
  std::vector<std::string> names = files_->list(prefix);
  for (const std::string& name : names)
    if (name.ends_with(live::suffix)) look(name.substr(0, name.size() - live::suffix.size()));
  for (auto& [stem, set] : sets_)
    if (set.seen && !std::binary_search(names.begin(), names.end(), stem + std::string(live::suffix))) leave(stem, set);
  return names;
}

NANLENS_API Fault LiveStorage::fault() const {
  for (const auto& [stem, set] : sets_)
    if (set.set->truncated())
      return {FaultId::much_in_memory, {{"name", stem + std::string(live::suffix)}, {"n", limits::live_bytes >> 20}}};
  return files_->fault();
}

NANLENS_API std::optional<bool> LiveStorage::in_use(const std::string& name) { return files_->in_use(name); }

NANLENS_API std::unique_ptr<ByteSource> LiveStorage::open(const std::string& name, std::string& why) {
  auto file = files_->open(name, why);
  const std::size_t directory = name.rfind('/') + 1;  // 0 if there is none
  std::string stem;
  FileKind kind{};
  if (file == nullptr || !logdir::parse_file_name(std::string_view(name).substr(directory), stem, kind)) return file;
  return std::make_unique<LiveSource>(std::move(file), set_of(name.substr(0, directory) + stem).set, kind);
}

NANLENS_API const LiveSet* LiveStorage::find(const std::string& stem) const {
  const auto found = sets_.find(stem);
  return found == sets_.end() ? nullptr : found->second.set.get();
}

NANLENS_API LiveStorage::Set& LiveStorage::set_of(const std::string& stem) {
  Set& set = sets_[stem];
  if (set.set == nullptr) {
    const std::size_t dot = stem.find('.', stem.rfind('/') + 1 + logdir::file_prefix.size());
    set.set = std::make_shared<LiveSet>(dot == std::string::npos ? std::string{} : stem.substr(dot + 1));
  }
  return set;
}

NANLENS_API OpenFile LiveStorage::opener(const std::string& stem) {
  return [this, stem](FileKind kind) {
    std::string why;
    return files_->open(logdir::file_name(stem, kind), why);
  };
}

NANLENS_API void LiveStorage::look(const std::string& stem) {
  Set& set = set_of(stem);
  if (set.set->died()) return;  // it does not change any more
  const std::string name = stem + std::string(live::suffix);
  std::string why;
  if (const auto file = files_->open(name, why)) {
    set.seen = true;
    set.set->look(*file, files_->in_use(name), opener(stem));
  }
}

NANLENS_API void LiveStorage::leave(const std::string& stem, Set& set) {
  set.seen = false;
  set.set->gone(opener(stem));
}

}  // namespace nanlens::reader
