/// @file
/// Where mutes lie.
#pragma once

#include <string>

#include <nanlens/reader/storage.hpp>

#include "report/mutes.hpp"

namespace nanlens::report {

/// What a file of mutes is called.
inline constexpr const char* mutes_name = "nanlens.mutes";

/// The outermost nanlens.mutes among the files of a storage; empty if there is none.
std::string mutes_in(reader::Storage& storage);

/// Reads the outermost nanlens.mutes among the files of a logdir, an archive or what was dropped on a page. Returns
/// its name there; empty if there is none. `directory` goes before that name in messages. Throws std::runtime_error if
/// it can't be read.
std::string read_mutes_in(reader::Storage& storage, const std::string& directory, Mutes& mutes);

/// The same of what a user names as a logdir, which `storage` holds, and the nearest nanlens.mutes from the working
/// directory up to the root of its repository.
void find_mutes_of(reader::Storage& storage, const std::string& path, Mutes& mutes);

/// Reads one file. Throws std::runtime_error if it can't be read.
void read_mutes_file(const std::string& path, Mutes& mutes);

/// Where a mark for a logdir at this path is written: the nanlens.mutes in it; empty where it is no directory.
std::string mutes_file_for(const std::string& path);

/// Adds a line to a file of mutes, which is made if it is not there. False if it can't be written: also where it is no
/// file, or a link to one of another name, which a logdir may hold that came from elsewhere, and where the text has a
/// line break.
bool append_mute(const std::string& file, const std::string& line);

}  // namespace nanlens::report
