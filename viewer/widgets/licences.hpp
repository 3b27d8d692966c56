/// @file
/// Licences of everything that is linked into the viewer.
#pragma once

#include <string_view>

namespace nanlens::viewer {

/// One text, with a heading for each part. Made by the build from the parts' own licence files.
std::string_view licences_text();

}  // namespace nanlens::viewer
