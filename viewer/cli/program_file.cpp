#include "program_file.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <vector>

#include "open.hpp"

namespace nanlens::cli {

namespace {

enum class Startable { no, not_executable, yes };

Startable look_at_file(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return Startable::no;
  return S_ISREG(facts.st_mode) && ::access(path.c_str(), X_OK) == 0 ? Startable::yes : Startable::not_executable;
}

std::string search_path(const std::string& name) {
  const char* const variable = std::getenv("PATH");
  std::string list = variable == nullptr ? "/usr/bin:/bin" : variable;
  list += ':';
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = list.find(':', begin);
    const std::string directory = list.substr(begin, end - begin);
    const std::string path = (directory.empty() ? "." : directory) + "/" + name;
    if (look_at_file(path) == Startable::yes) return path;
    begin = end + 1;
  }
  throw Failure("there is no program '" + name + "' in PATH");
}

bool has_own_rights(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return false;
  const bool other_user = (facts.st_mode & S_ISUID) != 0 && facts.st_uid != ::getuid();
  const bool other_group = (facts.st_mode & S_ISGID) != 0 && facts.st_gid != ::getgid();
  return other_user || other_group || ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

bool has_interpreter(std::ifstream& file, const Elf64_Ehdr& header) {
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff + static_cast<std::uint64_t>(i) * header.e_phentsize));
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return false;
    if (segment.p_type == PT_INTERP) return true;
  }
  return false;
}

// The interpreter that a script names in its first line; empty if it is no script.
std::string interpreter_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string first;
  constexpr std::size_t longest = 256;
  first.resize(longest);
  file.read(first.data(), longest);
  first.resize(static_cast<std::size_t>(file.gcount()));
  if (!first.starts_with("#!")) return {};
  const std::size_t begin = first.find_first_not_of(" \t", 2);
  if (begin == std::string::npos) return {};
  return first.substr(begin, first.find_first_of(" \t\r\n", begin) - begin);
}

}  // namespace

std::string find_program(const std::string& name) {
  const std::string path = name.find('/') == std::string::npos ? search_path(name) : name;
  switch (look_at_file(path)) {
    case Startable::no: throw Failure("there is no program '" + path + "'");
    case Startable::not_executable:
      throw Failure("'" + path + "' can't be executed: it is no file, or lacks the right (chmod +x)");
    case Startable::yes: break;
  }
  return path;
}

std::string why_not_watchable(const std::string& path, bool x86_64) {
  if (has_own_rights(path))
    return "'" + path +
           "' runs with rights of its own (setuid, setgid or capabilities): the system loads no library into it";
  if (const std::string interpreter = interpreter_of(path); !interpreter.empty()) {
    const std::string why = interpreter_of(interpreter).empty() ? why_not_watchable(interpreter, x86_64) : "";
    return why.empty() ? why : "'" + path + "' is a script, and " + why;
  }
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return {};  // starting it will tell
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || (x86_64 && header.e_machine != EM_X86_64))
    return "'" + path + "' is no program for " + (x86_64 ? "x86-64" : "a 64-bit machine");
  if (!has_interpreter(file, header))
    return "'" + path + "' is linked statically: no library can be loaded into it; link it dynamically";
  return {};
}

}  // namespace nanlens::cli
