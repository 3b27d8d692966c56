// Part of unpacked_storage.hpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include <nanlens/reader/memory_guard.hpp>

namespace nanlens::archive {

NANLENS_API void BlockSource::append(const char* bytes, std::size_t count) {
  while (count > 0) {
    const auto used = static_cast<std::size_t>(size_ % block_bytes);
    if (used == 0) blocks_.push_back(std::make_unique<char[]>(block_bytes));
    const std::size_t n = std::min(count, block_bytes - used);
    std::memcpy(blocks_.back().get() + used, bytes, n);
    bytes += n;
    count -= n;
    size_ += n;
  }
}

NANLENS_API std::size_t BlockSource::read(std::uint64_t offset, unsigned char* to, std::size_t count) {
  std::size_t done = 0;
  while (done < count && offset + done < size_) {
    const std::uint64_t at = offset + done;
    const auto skip = static_cast<std::size_t>(at % block_bytes);
    const auto left = static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes - skip, size_ - at));
    const std::size_t n = std::min(count - done, left);
    std::memcpy(to + done, blocks_[static_cast<std::size_t>(at / block_bytes)].get() + skip, n);
    done += n;
  }
  return done;
}

NANLENS_API UnpackedStorage::UnpackedStorage(std::shared_ptr<reader::ByteSource> file, std::uint64_t limit)
    : file_(std::move(file)),
      limit_(limit),
      context_(ZSTD_createDCtx(), &ZSTD_freeDCtx),
      in_(ZSTD_DStreamInSize()),
      out_(ZSTD_DStreamOutSize()),
      tar_(std::make_shared<BlockSource>()) {
  // A window is what a frame makes the decoder allocate.
  if (context_ != nullptr) ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, 27);
}

namespace detail {

// Its reason is zstd's, or of a tar: English.
inline reader::Fault damaged_archive(std::string why) {
  return reader::fault_because(reader::FaultId::archive_damaged, reader::told_fault(std::move(why)));
}

}  // namespace detail

// Unpacks up to one buffer full. False at the end, whatever that is.
NANLENS_API bool UnpackedStorage::step() {
  if (input_.pos == input_.size && !more_output_) {
    const std::size_t n = context_ == nullptr ? 0 : file_->read(offset_, in_.data(), in_.size());
    offset_ += n;
    input_ = {in_.data(), n, 0};
    if (n == 0) {
      if (state_ != 0) fault_ = reader::FaultId::archive_cut_off;
      return false;
    }
  }
  ZSTD_outBuffer output{out_.data(), out_.size(), 0};
  state_ = ZSTD_decompressStream(context_.get(), &output, &input_);
  if (ZSTD_isError(state_) != 0) {
    fault_ = detail::damaged_archive(ZSTD_getErrorName(state_));
    return false;
  }
  if (tar_->size() + output.pos > limit_) {
    fault_ = {reader::FaultId::archive_too_large, {{"n", limit_ >> 20}}};
    return false;
  }
  more_output_ = output.pos == output.size && state_ != 0;
  tar_->append(out_.data(), output.pos);
  return true;
}

NANLENS_API bool UnpackedStorage::begins_a_tar(std::string& why) {
  while (tar_->size() < tar_block && step()) {
  }
  unsigned char block[tar_block] = {};
  if (tar_->read(0, block, sizeof block) == sizeof block && is_tar_header(block)) return true;
  why = fault_.empty() ? "it is not a compressed tar archive" : reader::words(fault_);
  return false;
}

NANLENS_API bool UnpackedStorage::prepare(const reader::Progress& progress) {
  if (files_ != nullptr) return true;
  constexpr std::uint64_t ask_every = std::uint64_t{1} << 20;
  std::uint64_t asked = tar_->size();
  bool more = fault_.empty();
  while (more) {
    if (!reader::with_memory([&] { more = step(); })) {
      fault_ = reader::FaultId::no_memory_to_unpack;
      break;
    }
    if (!more || tar_->size() - asked < ask_every) continue;
    asked = tar_->size();
    if (progress && !progress(offset_, std::max(offset_, file_->size()))) return false;
  }
  finish();
  return true;
}

NANLENS_API void UnpackedStorage::finish() {
  std::vector<TarEntry> entries;
  std::string why;
  if (!read_tar(*tar_, entries, why) && fault_.empty()) fault_ = detail::damaged_archive(why);
  files_ = std::make_unique<TarStorage>(tar_, std::move(entries));
  context_.reset();
  in_ = {};
  out_ = {};
}

NANLENS_API std::vector<std::string> UnpackedStorage::list(std::string_view prefix) {
  prepare({});
  return files_->list(prefix);
}

NANLENS_API std::unique_ptr<reader::ByteSource> UnpackedStorage::open(const std::string& name, std::string& why) {
  prepare({});
  return files_->open(name, why);
}

}  // namespace nanlens::archive
