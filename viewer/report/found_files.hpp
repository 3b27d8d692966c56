/// @file
/// Text files of a person's own that go with logdirs: where they lie, and what may be written.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <nanlens/reader/storage.hpp>

namespace nanlens::report {

/// A path from the working directory on, as a person there would name it.
std::string shown_path(const std::filesystem::path& path);

/// Of a file of a logdir its directory; the path itself otherwise.
std::filesystem::path directory_of(const std::string& path);

/// The outermost file of this name in a storage, and there the first; empty if there is none.
std::string outermost(reader::Storage& storage, std::string_view name);

/// The nearest file of this name from the working directory up to the root of its repository; empty if there is none.
std::filesystem::path file_of_project(std::string_view name);

/// The text of a storage's file; nothing if it is larger than `most` bytes. Throws std::runtime_error if it can't be
/// read.
std::optional<std::string> text_in(reader::Storage& storage, const std::string& name, std::uint64_t most);

/// May this be written: is it a file, or nothing yet? A link must lead to a file of the same name: a logdir may hold
/// one that came from elsewhere.
bool may_be_written(const std::filesystem::path& file);

}  // namespace nanlens::report
