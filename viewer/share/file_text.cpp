// A megabyte at a time, with the end of the last one, in which a text may begin.
#include "file_text.hpp"

#include <cstddef>
#include <fstream>
#include <ios>
#include <vector>

namespace nanlens::share {

bool has_text(const std::filesystem::path& file, const std::string& text) {
  std::ifstream in(file, std::ios::binary);
  std::string kept;
  std::vector<char> buffer(std::size_t{1} << 20);
  while (in.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0) {
    kept.append(buffer.data(), static_cast<std::size_t>(in.gcount()));
    if (kept.find(text) != std::string::npos) return true;
    if (kept.size() > text.size()) kept.erase(0, kept.size() - text.size());
  }
  return false;
}

}  // namespace nanlens::share
