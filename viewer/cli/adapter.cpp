// `nanlens adapter`: compiles a host's adapter against the version that is there, once.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.hpp"
#include "library.hpp"
#include "loaded_library.hpp"
#include "open.hpp"
#include "share/file_text.hpp"
#include "share/own_program.hpp"
#include "tool_process.hpp"

namespace nanlens::cli {

namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

// A host with an adapter: what the compiler needs to know of it besides the adapter's source.
struct Host {
  const char* name;
  const char* what;  // it is called in words
  const char* source;
  const char* seconds;  // that compiling takes
  Words (*headers)(const fs::path& library);
  Words (*libraries)(const fs::path& library);
};

// The directory with nanlens' headers: `include` beside or above the command's own directory, as it is installed and as
// it is built; else where this command was built from.
fs::path nanlens_include(const std::string& adapter_source) {
  std::error_code none;
  fs::path directory = share::own_program().parent_path();
  constexpr int highest = 4;
  for (int i = 0; i < highest && directory.has_relative_path(); ++i, directory = directory.parent_path())
    if (fs::exists(directory / "include" / adapter_source, none)) return directory / "include";
#if defined(NANLENS_INCLUDE_DIR)
  if (fs::exists(fs::path(NANLENS_INCLUDE_DIR) / adapter_source, none)) return NANLENS_INCLUDE_DIR;
#endif
  throw Failure("the adapter's source include/" + adapter_source +
                " is not beside the command: install nanlens with its headers");
}

// PyTorch's own headers: a wheel has them beside its libraries, a system in its include directory.
fs::path torch_include(const fs::path& library) {
  const fs::path directory = library.parent_path();
  std::error_code none;
  for (const fs::path& candidate : {directory / "../include", directory / "../../include", fs::path("/usr/include")})
    if (fs::exists(candidate / "ATen/record_function.h", none)) return fs::weakly_canonical(candidate, none);
  throw Failure(
      "PyTorch's headers (ATen/record_function.h) are neither beside " + library.string() +
      " nor in /usr/include: install them (Debian: apt-get install libtorch-dev; a wheel from PyPI has them)");
}

// libc10.so, or with a version: beside libtorch_cpu.so.
fs::path core_library(const fs::path& library) {
  std::string name = library.filename().string();
  if (const std::size_t at = name.find("torch_cpu"); at != std::string::npos) name.replace(at, 9, "c10");
  std::error_code none;
  for (const fs::path& candidate : {library.parent_path() / name, library.parent_path() / "libc10.so"})
    if (fs::exists(candidate, none)) return candidate;
  throw Failure("there is no libc10.so beside " + library.string());
}

void add_to_hash(std::uint64_t& hash, const std::string& text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;  // FNV-1a
}

// All that the adapter is compiled from.
std::vector<fs::path> sources(const fs::path& include) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(include / "nanlens"))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void add_contents_to_hash(std::uint64_t& hash, const std::vector<fs::path>& files) {
  for (const fs::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    add_to_hash(hash, std::string(std::istreambuf_iterator<char>(file), {}));
  }
}

// A directory of this user's own that can be written, for what is compiled.
fs::path cache_directory() {
  std::vector<fs::path> candidates;
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  if (cache != nullptr && *cache != '\0') candidates.push_back(fs::path(cache) / "nanlens");
  if (home != nullptr && *home != '\0') candidates.push_back(fs::path(home) / ".cache/nanlens");
  candidates.push_back("/tmp/nanlens-" + std::to_string(::getuid()));
  std::error_code error;
  for (const fs::path& candidate : candidates) {
    fs::create_directories(candidate.parent_path(), error);
    ::mkdir(candidate.c_str(), 0700);
    struct stat is{};
    // Others must not be able to put a library there.
    if (::lstat(candidate.c_str(), &is) == 0 && S_ISDIR(is.st_mode) && is.st_uid == ::getuid() &&
        (is.st_mode & 022) == 0 && ::access(candidate.c_str(), W_OK) == 0)
      return candidate;
  }
  throw Failure("no directory for the compiled adapter can be written: set XDG_CACHE_HOME");
}

constexpr const char* old_abi = "-D_GLIBCXX_USE_CXX11_ABI=0";

Words torch_headers(const fs::path& library) {
  // Both ways of laying out std::string are in use: PyTorch's own functions tell by their names.
  const bool is_new = share::has_text(core_library(library), "torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_string");
  Words words{is_new ? "-D_GLIBCXX_USE_CXX11_ABI=1" : old_abi};
  if (const fs::path torch = torch_include(library); torch != "/usr/include")
    words.insert(words.end(), {"-isystem", torch.string()});
  return words;
}

Words torch_libraries(const fs::path& library) { return {library.string(), core_library(library).string()}; }

// mpi.h of the same implementation, which are not one another's: a system may have several.
Words mpi_headers(const fs::path& library) {
  const std::string mark = share::has_text(library, "ompi_mpi_comm_world") ? "OPEN_MPI" : "MPICH";
  const fs::path directory = library.parent_path();
  const fs::path system = "/usr/include" / directory.filename();
  std::error_code none;
  for (const fs::path& candidate :
       {directory / "openmpi/include", system / "mpich", system / "mpi", directory / "../include",
        directory / "../../include", fs::path("/usr/include/openmpi"), fs::path("/usr/include/mpich"),
        fs::path("/usr/include/openmpi-x86_64"), fs::path("/usr/include/mpich-x86_64"), fs::path("/usr/include")})
    if (fs::exists(candidate / "mpi.h", none) && share::has_text(candidate / "mpi.h", mark))
      return {"-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", "-isystem", fs::weakly_canonical(candidate, none).string()};
  throw Failure("the mpi.h that " + library.string() +
                " was built with is neither near it nor in /usr/include: install it (Debian: apt-get install "
                "libopenmpi-dev, or libmpich-dev)");
}

Words mpi_libraries(const fs::path& library) { return {library.string()}; }

constexpr Host hosts[] = {
    {"torch", "PyTorch", "nanlens/hosts/torch/adapter.inl", "20", &torch_headers, &torch_libraries},
    {"mpi", "MPI", "nanlens/hosts/mpi/adapter.inl", "10", &mpi_headers, &mpi_libraries},
};

const Host& find_host(const std::string& name) {
  std::string names = "ggml";
  for (const Host& host : hosts) {
    if (name == host.name) return host;
    names += std::string(", ") + host.name;
  }
  throw Failure("there is no adapter for '" + name + "'; there are those for " + names);
}

// Words of the compiler's command line, but for the output.
Words compiler_words(const Host& host, const fs::path& library, const fs::path& include) {
  const Words libraries = host.libraries(library);
  Words words{"g++", "-std=c++20", "-O1", "-shared", "-fPIC", "-fvisibility=hidden"};
  const Words headers = host.headers(library);
  words.insert(words.end(), headers.begin(), headers.end());
  words.insert(words.end(), {"-I" + include.string(), "-x", "c++", (include / host.source).string(), "-x", "none",
                             "-Wl,--no-as-needed,--allow-shlib-undefined"});
  words.insert(words.end(), libraries.begin(), libraries.end());
  words.emplace_back("-ldl");
  const ToolResult backtrace = run_tool({"g++", "-print-file-name=libbacktrace.a"});
  if (backtrace.code == 127)
    throw Failure(std::string("the adapter for ") + host.what +
                  " is compiled when it is first needed, and there is no g++: install it "
                  "(Debian: apt-get install g++)");
  if (backtrace.output.starts_with('/'))  // where there is none, its bare name comes back
    words.insert(words.end(), {"-DNANLENS_HAVE_LIBBACKTRACE", "-lbacktrace"});
  return words;
}

// Is the recorder made of a header? Of the modules beside it, which the adapter takes as they are, it is not.
bool is_of_recorder(const fs::path& header) {
  constexpr const char* others[] = {"/nanlens/archive/", "/nanlens/causes/", "/nanlens/hosts/", "/nanlens/reader/"};
  return std::none_of(std::begin(others), std::end(others),
                      [&](const char* module) { return header.string().find(module) != std::string::npos; });
}

// The recorder as it was compiled with this command, without which an adapter takes twice the time to compile. Empty if
// it isn't there, or may be of other sources: one of them is newer.
std::string compiled_recorder(const std::vector<fs::path>& sources) {
  const std::string path = library_path("libnanlens_compiled.a");
  std::error_code error;
  const fs::file_time_type compiled = fs::last_write_time(path, error);
  if (error) return {};
  const auto is_newer = [&](const fs::path& source) {
    return is_of_recorder(source) && fs::last_write_time(source) > compiled;
  };
  return std::any_of(sources.begin(), sources.end(), is_newer) ? std::string() : path;
}

// The same command line with a recorder that is compiled: it has to fit, and is nobody else's to call.
Words with_recorder(Words words, const std::string& recorder) {
  words.emplace_back("-DNANLENS_SPLIT");
  const auto after_source = std::find(words.begin(), words.end(), "none") + 1;
  words.insert(after_source, {recorder, "-Wl,-z,defs,--exclude-libs,ALL,--strip-debug"});
  return words;
}

// The first error that a compiler tells of, without its place, which is in nobody's program.
std::string first_error(const std::string& output) {
  for (const char* const mark : {"error: ", ""}) {
    const std::size_t begin = output.find(mark);
    if (begin == std::string::npos) continue;
    std::string line = output.substr(begin + std::strlen(mark), output.find('\n', begin) - begin - std::strlen(mark));
    if (line.starts_with("#error ")) line.erase(0, std::strlen("#error "));
    return line;
  }
  return {};
}

ToolResult run_compiler(Words words, const fs::path& output) {
  words.insert(words.end(), {"-o", output.string()});
  return run_tool(words);
}

void compile(const Host& host, const Words& words, const std::vector<fs::path>& sources, const fs::path& object) {
  std::fprintf(stderr, "nanlens: compiling the adapter for %s, once for each version: about %s s\n", host.what,
               host.seconds);
  const fs::path temporary = object.string() + "." + std::to_string(::getpid());
  ToolResult result{1, {}};
  const bool old_strings = std::find(words.begin(), words.end(), old_abi) != words.end();
  if (const std::string recorder = compiled_recorder(sources); !recorder.empty() && !old_strings)
    result = run_compiler(with_recorder(words, recorder), temporary);
  if (result.code != 0) result = run_compiler(words, temporary);
  std::error_code error;
  if (result.code == 0) fs::rename(temporary, object, error);
  if (result.code == 0 && !error) return;
  const std::string reason = error ? error.message() : first_error(result.output);
  const fs::path log = object.string() + ".log";
  std::ofstream(log) << result.output;
  fs::remove(temporary, error);
  throw Failure(std::string("the adapter for ") + host.what + " does not compile: " + reason +
                " (all of it: " + log.string() + ")");
}

// The ranks of a job all ask at once: one of them compiles, and the others wait.
class Lock {
 public:
  explicit Lock(const fs::path& object) : path_(object.string() + ".lock") {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file_ >= 0) ::flock(file_, LOCK_EX);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    ::unlink(path_.c_str());
    if (file_ >= 0) ::close(file_);
  }

 private:
  std::string path_;
  int file_;
};

}  // namespace

int adapter(const std::string& name, const std::string& path) {
  if (name == "ggml") {  // one for all versions: it looks at what it finds
    std::printf("%s\n", library("libnanlens_ggml.so").c_str());
    return 0;
  }
  const Host& host = find_host(name);
  std::error_code error;
  const fs::path library = fs::canonical(path, error);
  if (error) throw Failure("there is no library '" + path + "'");
  const std::string id = build_id(library);
  const fs::path include = nanlens_include(host.source);
  const std::vector<fs::path> files = sources(include);
  const Words words = compiler_words(host, library, include);
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const std::string& word : words) add_to_hash(hash, word + "\n");
  if (id.empty()) add_to_hash(hash, std::to_string(fs::last_write_time(library).time_since_epoch().count()));
  add_contents_to_hash(hash, files);
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
  const fs::path object = cache_directory() / (name + "-" + id + "-" + digits + ".so");
  if (!fs::exists(object)) {
    const Lock lock(object);
    if (!fs::exists(object)) compile(host, words, files, object);
  }
  std::printf("%s\n", object.c_str());
  return 0;
}

}  // namespace nanlens::cli
