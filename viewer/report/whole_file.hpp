/// @file
/// A file that has its name only once it is complete.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>

namespace nanlens::report {

/// Writes under another name until `finish`, which no other file has; what was not finished is removed. It
/// has the permissions of a file that it takes the place of. What is no file, such as a pipe or /dev/null, is written
/// as it is, and stays what it is.
class WholeFile {
 public:
  /// Throws Failure if the file can't be written.
  explicit WholeFile(std::string path);
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  ~WholeFile();
  /// False once something could not be written.
  bool write(std::string_view bytes);
  /// Gives the file its name. Throws Failure if that, or something before, failed.
  void finish();

 private:
  std::string path_;
  std::string unfinished_;
  std::ofstream file_;
  bool finished_ = false;
};

}  // namespace nanlens::report
