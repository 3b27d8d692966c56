/// @file
/// What a file holds, whatever its size.
#pragma once

#include <filesystem>
#include <string>

namespace nanlens::share {

/// True if the bytes of a file have this text among them; false, too, if it can't be read.
bool has_text(const std::filesystem::path& file, const std::string& text);

}  // namespace nanlens::share
