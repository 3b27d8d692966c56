// Where the libraries are that are loaded into programs.
#include "loaded_library.hpp"

#include <cstdlib>
#include <filesystem>

#include "open.hpp"
#include "share/own_program.hpp"

namespace nanlens::cli {

namespace {

namespace fs = std::filesystem;

std::string library_directory() {
  if (const char* const chosen = std::getenv("NANLENS_LIBRARY_DIR")) return chosen;
  return (share::own_program().parent_path().parent_path() / "lib" / "nanlens").string();
}

}  // namespace

std::string library_path(const std::string& name) { return fs::absolute(library_directory()).string() + "/" + name; }

std::string library(const std::string& name) {
  const std::string path = library_path(name);
  if (!fs::exists(path)) throw Failure("there is no '" + path + "': NANLENS_LIBRARY_DIR says where it is");
  if (path.find_first_of(" :") != std::string::npos)
    throw Failure("'" + path + "' can't be loaded into a program: the path has a blank or a colon");
  return path;
}

}  // namespace nanlens::cli
