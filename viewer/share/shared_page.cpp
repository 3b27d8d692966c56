#include "share/shared_page.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <nanlens/archive/archive.hpp>
#include <nanlens/reader/logdir.hpp>

#include "base64.hpp"
#include "kept_events.hpp"
#include "logdir_files.hpp"
#include "own_program.hpp"
#include "report/failure.hpp"
#include "report/view_link.hpp"
#include "report/whole_file.hpp"
#include "rewrite.hpp"

namespace nanlens::share {

namespace {

namespace fs = std::filesystem;
using report::Failure;

// Where the page (wasm/page.html.in) has room for a recording.
constexpr std::string_view empty_place = R"(<script type="text/plain" id="run"></script>)";

// In a build tree the page is in DIR/wasm and this program in DIR/bin; installed, in PREFIX/share/nanlens.
fs::path page_beside_us() {
  std::error_code none;
  const fs::path above = own_program().parent_path().parent_path();
  for (const char* const place : {"wasm/nanlens.html", "share/nanlens/nanlens.html"})
    if (fs::exists(above / place, none)) return above / place;
  throw Failure(
      "the page, nanlens.html, is not beside this program: build it with 'sh wasm/build.sh' in nanlens' sources, or "
      "name it with --page FILE");
}

std::string read_page(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Failure("can't read the page '" + path.string() + "'");
  std::string page((std::istreambuf_iterator<char>(file)), {});
  const std::size_t at = page.find(empty_place);
  if (at == std::string::npos || page.find(empty_place, at + 1) != std::string::npos)
    throw Failure("'" + path.string() + "' is no page of this nanlens: it has no room for a recording");
  return page;
}

std::string attribute(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&' || c == '"' || c == '<' || c == '>')
      out += "&#" + std::to_string(static_cast<int>(c)) + ";";
    else
      out += c;
  }
  return out;
}

std::string view_of(const std::string& link) {
  if (link.empty()) return link;
  const auto view = report::view_link(link);
  if (!view) throw Failure(report::no_view_link(link));
  return *view;
}

std::string name_of(const std::string& path) {
  std::error_code none;
  fs::path from = fs::absolute(path, none).lexically_normal();
  if (none) from = fs::path(path).lexically_normal();  // the working directory is gone
  if (!from.has_filename()) from = from.parent_path();
  return fs::is_directory(from, none) ? from.filename().string() : from.stem().string();
}

// For files on their way.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (fs::temp_directory_path() / "nanlens-share-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw Failure("can't make a directory in '" + fs::temp_directory_path().string() + "': " + std::strerror(errno));
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code none;
    fs::remove_all(path_, none);
  }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

// The logdir's files, or, in `directory`, what is to be handed on of them.
LogdirFiles files_for(const PageOptions& options, const std::string& directory) {
  Rewriting rewriting{options.no_source, options.redact, {}, options.stopped};
  for (const std::string& word : options.redact)
    if (word.empty()) throw Failure("--redact needs a text to take out");
  if (options.around_cause >= 0) {
    std::string why;
    auto storage = archive::open_path(options.path, why);
    if (storage == nullptr) throw Failure(why);
    reader::Logdir logdir(std::move(storage));
    logdir.update([&](std::uint64_t, std::uint64_t) { return !options.stopped(); });
    go_on_unless(options.stopped);
    rewriting.keep = events_of_causes(logdir, options.around_cause, options.stopped);
  }
  LogdirFiles files = open_logdir_files(options.path);
  return rewriting.changes_anything() ? rewrite(files, rewriting, directory) : std::move(files);
}

}  // namespace

std::string name_for(const std::string& path) { return name_of(path) + ".html"; }

std::string write_page(const PageOptions& options) {
  const TemporaryDirectory directory;
  const LogdirFiles files = files_for(options, directory.path());
  const std::string page = read_page(options.page.empty() ? page_beside_us() : fs::path(options.page));
  const std::string view = redacted(view_of(options.view), options.redact);
  const std::string name = redacted(name_of(options.path), options.redact);
  const std::string output = options.output.empty() ? name + ".html" : options.output;
  const std::size_t at = page.find(empty_place);
  const std::string_view after = std::string_view(page).substr(at + empty_place.size());
  report::WholeFile file(output);
  Base64 text;
  std::string why;
  file.write(std::string_view(page).substr(0, at));
  file.write(R"(<script type="text/plain" id="run" data-name=")" + attribute(name + ".nanlens") + R"(" data-view=")" +
             attribute(view) + R"(">)");
  if (!archive::pack(
          *files.storage, files.names, std::time(nullptr),
          [&](const char* bytes, std::size_t n) { return !options.stopped() && file.write(text.add({bytes, n})); },
          why))
    throw Failure("can't put '" + options.path + "' into '" + output + "': " + why);
  file.write(text.finish());
  file.write("</script>");
  file.write(after);
  file.finish();
  return output;
}

}  // namespace nanlens::share
