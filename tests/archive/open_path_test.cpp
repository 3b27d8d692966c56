// What a user names, on disk or on a page: one function each for the command, the desktop and the page.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include <nanlens/archive/archive.hpp>
#include <nanlens/reader/reader.hpp>

#include "../support/logdir_generator.hpp"
#include "../support/temporary_directory.hpp"

using namespace nanlens;

namespace {

std::unique_ptr<reader::MemoryStorage> logdir_files(const std::string& run_id) {
  auto storage = std::make_unique<reader::MemoryStorage>();
  for (std::size_t i = 0; i < logdir::num_file_kinds; ++i)
    storage->put(test::generated_name(static_cast<logdir::FileKind>(i)), "");
  test::LogdirGenerator({.calls = 3, .run_id = run_id}, [&](logdir::FileKind kind, const std::string& bytes) {
    storage->append(test::generated_name(kind), bytes);
  }).run();
  return storage;
}

std::string packed(const std::string& run_id) {
  const auto storage = logdir_files(run_id);
  std::string bytes;
  std::string why;
  REQUIRE(archive::pack(
      *storage, storage->list(), 0, [&](const char* p, std::size_t n) { return bytes.append(p, n), true; }, why));
  return bytes;
}

std::vector<std::string> run_ids(std::unique_ptr<reader::Storage> storage) {
  reader::Logdir logdir(std::move(storage));
  logdir.update();
  std::vector<std::string> ids;
  for (const auto& run : logdir.runs()) ids.push_back(run->id());
  return ids;
}

const std::vector<std::string> one_run = {"run-a"};

}  // namespace

TEST_CASE("a path is a logdir, one of its files, or an archive by any name") {
  const test::TemporaryDirectory directory;
  const auto files = logdir_files("run-a");
  std::string why;
  for (const std::string& name : files->list()) {
    std::string bytes(files->open(name, why)->size(), '\0');
    files->open(name, why)->read(0, reinterpret_cast<unsigned char*>(bytes.data()), bytes.size());
    std::ofstream(directory / name, std::ios::binary) << bytes;
  }
  CHECK(run_ids(archive::open_path(directory.path(), why)) == one_run);
  for (const std::string& name : files->list()) CHECK(run_ids(archive::open_path(directory / name, why)) == one_run);

  const test::TemporaryDirectory elsewhere;
  for (const char* name : {"a.nanlens", "A.TAR.ZST", "archive"}) {
    std::ofstream(elsewhere / name, std::ios::binary) << packed("run-a");
    CHECK(run_ids(archive::open_path(elsewhere / name, why)) == one_run);
  }
  std::ofstream(elsewhere / "text") << "hello";
  CHECK(archive::open_path(elsewhere / "text", why) == nullptr);
  CHECK(why.find("neither a logdir nor an archive") != std::string::npos);
  CHECK(archive::open_path(elsewhere / "missing", why) == nullptr);
  CHECK(why.find("No such file") != std::string::npos);
}

TEST_CASE("files are a logdir, or one archive or several") {
  std::string why;
  CHECK(run_ids(archive::open_files(logdir_files("run-a"), why)) == one_run);

  const auto files = std::make_shared<reader::MemoryStorage>();
  files->put("notes.txt", "hello");
  CHECK(archive::open_files(files, why) == nullptr);
  CHECK(why.find("notes.txt") != std::string::npos);
  files->put("A.TAR.ZST", packed("run-a"));
  CHECK(run_ids(archive::open_files(files, why)) == one_run);
  files->put("b.nanlens", packed("run-b"));
  CHECK(run_ids(archive::open_files(files, why)) == std::vector<std::string>{"run-a", "run-b"});
  files->put("broken.tar", "hello");
  CHECK(run_ids(archive::open_files(files, why)).size() == 2);
  CHECK(why.find("broken.tar is no archive") != std::string::npos);
}

TEST_CASE("archives are told by their names in any case") {
  for (const char* name : {"a.nanlens", "A.NANLENS", "x.tar", "x.TAR.ZST", "x.zst"})
    CHECK(archive::is_archive_name(name));
  for (const char* name : {"", "tar", "x.zip", "x.tar.gz", "nanlens"}) CHECK_FALSE(archive::is_archive_name(name));
}
