/// @file
/// A logdir as one file, `run.nanlens`: a tar, compressed as independent zstd frames with a seek table at the end, so
/// that `tar --zstd -x` reads it too while the reader decompresses only the frames it needs. Plain .tar and .tar.zst
/// open as well.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/config.hpp>
#include <nanlens/logdir/limits.hpp>
#include <nanlens/reader/storage.hpp>

namespace nanlens::archive {

/// Opens an archive: with a seek table, of any size; .tar of any size; .tar.zst without a table up to `memory_limit`
/// bytes, which the storage's `prepare` unpacks in memory. Null, with `why`, if it is none of these, damaged or
/// hostile.
std::unique_ptr<reader::Storage> open(std::unique_ptr<reader::ByteSource> file, std::string& why,
                                      std::uint64_t memory_limit = limits::unpacked_bytes);

/// True for what archives are named: .nanlens, .tar, .tar.zst and .zst, in capitals too.
bool is_archive_name(std::string_view name);

/// What a user names on disk: the directory of a logdir, one of a logdir's six files (which stands for its directory),
/// an archive by any name. Null, with a message in `why`, if it is none of these.
std::unique_ptr<reader::Storage> open_path(const std::string& path, std::string& why);

/// What a user gives as a number of files: those of a logdir, else archives by their names, each a directory then.
/// Null, with a sentence in `why`, if it is neither.
std::unique_ptr<reader::Storage> open_files(std::shared_ptr<reader::Storage> files, std::string& why);

/// Takes the bytes of an archive as they are made. False: they could not be written, and packing stops.
using Sink = std::function<bool(const char* bytes, std::size_t count)>;

/// Writes files of a storage as an archive. False, with `why`, if one can't be read or the sink gives up.
bool pack(reader::Storage& storage, const std::vector<std::string>& names, std::int64_t mtime, const Sink& sink,
          std::string& why);

}  // namespace nanlens::archive

#if !defined(NANLENS_SPLIT)
#include <nanlens/archive/open.inl>
#include <nanlens/archive/open_path.inl>
#include <nanlens/archive/pack.inl>
#endif
