/// @file
/// A compressed tar without a seek table: unpacked in memory, a slice at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <zstd.h>

#include <nanlens/archive/tar_storage.hpp>
#include <nanlens/config.hpp>
#include <nanlens/reader/storage.hpp>

namespace nanlens::archive {

/// Bytes in memory that grow by blocks, none of which moves.
class BlockSource final : public reader::ByteSource {
 public:
  void append(const char* bytes, std::size_t count);
  std::uint64_t size() override { return size_; }
  std::size_t read(std::uint64_t offset, unsigned char* to, std::size_t count) override;

 private:
  static constexpr std::size_t block_bytes = std::size_t{1} << 20;
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::uint64_t size_ = 0;
};

/// `prepare` unpacks; what is damaged, cut off or too large ends that and is told by `fault`, and the files before it
/// are there.
class UnpackedStorage final : public reader::Storage {
 public:
  UnpackedStorage(std::shared_ptr<reader::ByteSource> file, std::uint64_t limit);

  /// Unpacks the first block. False, with `why`, if that is not the beginning of a tar.
  bool begins_a_tar(std::string& why);
  bool prepare(const reader::Progress& progress) override;
  std::vector<std::string> list(std::string_view prefix = {}) override;
  std::unique_ptr<reader::ByteSource> open(const std::string& name, std::string& why) override;
  [[nodiscard]] reader::Fault fault() const override { return fault_; }

 private:
  bool step();
  void finish();

  std::shared_ptr<reader::ByteSource> file_;
  std::uint64_t limit_;
  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context_;
  std::vector<unsigned char> in_;
  std::vector<char> out_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  bool more_output_ = false;  // the decoder holds bytes that had no room
  std::uint64_t offset_ = 0;
  std::size_t state_ = 0;
  std::shared_ptr<BlockSource> tar_;
  std::unique_ptr<TarStorage> files_;
  reader::Fault fault_;
};

}  // namespace nanlens::archive

#if !defined(NANLENS_SPLIT)
#include <nanlens/archive/unpacked_storage.inl>
#endif
