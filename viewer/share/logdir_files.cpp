#include "logdir_files.hpp"

#include <string_view>
#include <utility>

#include <nanlens/archive/archive.hpp>
#include <nanlens/logdir/file_set.hpp>
#include <nanlens/reader/live_storage.hpp>

#include "report/failure.hpp"
#include "report/mutes_files.hpp"
#include "report/rules_files.hpp"

namespace nanlens::share {

namespace {

bool is_logdir_file(const std::string& name) {
  std::string stem;
  logdir::FileKind kind{};
  return logdir::parse_file_name(std::string_view(name).substr(name.rfind('/') + 1), stem, kind);
}

}  // namespace

LogdirFiles open_logdir_files(const std::string& path) {
  std::string why;
  auto storage = archive::open_path(path, why);
  if (storage == nullptr) throw report::Failure(why);
  LogdirFiles files;
  files.storage = std::make_unique<reader::LiveStorage>(std::move(storage));
  files.storage->prepare({});
  for (const auto& name : files.storage->list(logdir::file_prefix))
    if (is_logdir_file(name)) files.names.push_back(name);
  if (!files.names.empty()) {
    for (const std::string& text : {report::mutes_in(*files.storage), report::rules_in(*files.storage)})
      if (!text.empty()) files.names.push_back(text);
    return files;
  }
  const std::string fault = words(files.storage->fault());
  throw report::Failure("there is no tfdbg2 logdir in '" + path + "'" + (fault.empty() ? "" : ": " + fault));
}

}  // namespace nanlens::share
