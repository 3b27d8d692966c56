#include "places.hpp"

#include <filesystem>
#include <system_error>

namespace nanlens::findings {

namespace fs = std::filesystem;

SourceRoot::SourceRoot(const std::string& directory) {
  std::error_code none;
  const fs::path given = directory.empty() ? fs::current_path(none) : fs::path(directory);
  const fs::path real = fs::weakly_canonical(given, none);
  path_ = (none ? given : real).string();
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
}

std::string SourceRoot::below(const std::string& recorded) const {
  if (recorded.empty() || recorded.find('\0') != std::string::npos) return {};
  std::error_code none;
  fs::path path(recorded);
  if (path.is_absolute()) {
    const std::string normal = path.lexically_normal().string();
    const std::string root = path_ == "/" ? path_ : path_ + "/";
    if (normal.starts_with(root)) return normal.substr(root.size());
    const std::string real = fs::weakly_canonical(path, none).string();  // the root may be named by a link
    return real.starts_with(root) ? real.substr(root.size()) : std::string();
  }
  path = path.lexically_normal();
  fs::path inside;
  for (const fs::path& part : path)
    if (part != "..") inside /= part;
  return !inside.empty() && fs::is_regular_file(fs::path(path_) / inside, none) ? inside.generic_string()
                                                                                : std::string();
}

}  // namespace nanlens::findings
