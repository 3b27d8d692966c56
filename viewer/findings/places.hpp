/// @file
/// From the paths that a recording holds to files of the sources that are checked.
#pragma once

#include <string>

namespace nanlens::findings {

/// The directory that sources are looked for in.
class SourceRoot {
 public:
  /// Empty: the working directory.
  explicit SourceRoot(const std::string& directory);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// A recorded path from the root on, with '/'; empty if it leads elsewhere. A compiler that ran in a directory
  /// of its own leaves paths such as "../src/a.cpp": such a one counts where the root has that file.
  [[nodiscard]] std::string below(const std::string& recorded) const;

 private:
  std::string path_;
};

}  // namespace nanlens::findings
