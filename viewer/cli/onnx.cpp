// `nanlens onnx`: a model as it was written and as ONNX Runtime optimises it, and the first bad node of each.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "commands.hpp"
#include "loaded_library.hpp"
#include "open.hpp"
#include "report/describe.hpp"
#include "report/muted_causes.hpp"
#include "run.hpp"
#include "why.hpp"

namespace nanlens::cli {

namespace {

namespace fs = std::filesystem;

constexpr int onnx_unread = 2;
constexpr int onnx_bad = 1;

using Drive = int(std::size_t num_words, const char* const* words);

Drive* open_driver(const std::string& library) {
  void* const opened = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto* const drive = opened == nullptr ? nullptr : reinterpret_cast<Drive*>(::dlsym(opened, "nanlens_onnx_drive"));
  if (drive == nullptr) throw Failure("'" + library + "' can't be loaded: " + ::dlerror());
  return drive;
}

// In a process of its own: it records, and a model that breaks ONNX Runtime does not break this command. Its exit code.
int drive(const std::string& library, const std::string& logdir, const std::vector<std::string>& words) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw Failure(std::string("no process can be started: ") + std::strerror(errno));
  if (child == 0) {
    if (logdir.empty())
      ::unsetenv("NANLENS_LOGDIR");
    else
      ::setenv("NANLENS_LOGDIR", logdir.c_str(), 1);
    std::vector<const char*> list;
    for (const std::string& word : words) list.push_back(word.c_str());
    int code = onnx_unread;
    try {
      code = open_driver(library)(list.size(), list.data());
    } catch (const Failure& failure) {
      std::fprintf(stderr, "nanlens: %s\n", failure.what());
    }
    std::exit(code);  // what is recorded is finished
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  throw Failure(words[2] + ": ONNX Runtime was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
                ::strsignal(WTERMSIG(status)) + ")");
}

// What a logdir says of the one run that it has; true if it is bad, and that is not muted.
bool tell_first(const std::string& what, const std::string& logdir) {
  const auto opened = open_logdir(logdir);
  report::Mutes mutes = find_mutes(*opened, logdir);
  for (reader::Run* const run : runs_by_importance(*opened)) {
    if (run->alerts().empty()) continue;
    const auto causes = find_causes(*run);
    causes::SentenceWriter writer(*causes);
    const report::MutedCauses muted(writer, *causes, mutes);
    const auto& expected = writer.groups().expected();
    if (writer.groups().list().empty()) {
      for (const causes::CauseGroup& group : expected) line(what + ": " + report::expected_words(writer, group));
      if (expected.empty()) continue;
      return false;
    }
    const auto sentence = writer.sentence(muted.headline());
    if (!muted.all_muted())
      line(what + ": " + sentence.text + (sentence.consequence.empty() ? "" : " " + sentence.consequence));
    if (const std::string words = muted.words(); !words.empty()) line(what + ": " + words);
    return !muted.all_muted();
  }
  line(what + ": no NaN or ∞");
  return false;
}

// A file that is gone with the object.
class TemporaryModel {
 public:
  explicit TemporaryModel(const fs::path& directory)
      : path_((directory / (".nanlens-" + std::to_string(::getpid()) + ".onnx")).string()) {}
  TemporaryModel(const TemporaryModel&) = delete;
  TemporaryModel& operator=(const TemporaryModel&) = delete;
  ~TemporaryModel() {
    std::error_code error;
    fs::remove(path_, error);
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

int run_both(const OnnxOptions& options, const std::string& library) {
  const std::string name = fs::path(options.model).filename().string();
  const std::string folder = fs::absolute(options.model).parent_path().string();
  std::vector<std::string> words{"run", options.library, options.model, name + " (as written)", folder, options.random};
  words.insert(words.end(), options.inputs.begin(), options.inputs.end());
  const std::string written = options.logdir + "/as-written";
  const std::string optimised = options.logdir + "/optimised";
  if (fs::exists(written)) throw Failure("'" + options.logdir + "' has a recording already: choose another directory");
  if (const int code = drive(library, written, words); code != 0) {
    std::error_code error;
    fs::remove_all(written, error);  // nothing ran
    return code;
  }
  bool bad = tell_first("as written", written);
  const TemporaryModel model(options.logdir);
  if (drive(library, "", {"optimise", options.library, options.model, model.path()}) != 0) {
    line("optimised: it can't be saved as it is optimised");
  } else {
    words[2] = model.path();
    words[3] = name + " (optimised)";
    if (const int code = drive(library, optimised, words); code != 0) return code;
    bad = tell_first("optimised", optimised) || bad;
  }
  line("more: nanlens why " + written + ", nanlens why " + optimised);
  return bad && options.check ? onnx_bad : 0;
}

}  // namespace

int onnx(const OnnxOptions& options) {
  const std::string library = cli::library("libnanlens_onnx.so");
  if (!options.output.empty()) {
    const std::string name = fs::path(options.model).filename().string();
    return drive(library, "", {"instrument", options.model, name, options.output});
  }
  OnnxOptions complete = options;
  if (complete.logdir.empty()) complete.logdir = default_logdir();
  complete.logdir = fs::absolute(complete.logdir).string();
  std::error_code error;
  const bool was_there = fs::exists(complete.logdir);
  fs::create_directories(complete.logdir, error);
  if (error) throw Failure("can't write to '" + complete.logdir + "': " + error.message());
  const int code = run_both(complete, library);
  if (code == onnx_unread && !was_there) fs::remove(complete.logdir, error);  // if it is empty
  return code;
}

}  // namespace nanlens::cli
