#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>

#include <zstd.h>

#include <nanlens/archive/archive.hpp>
#include <nanlens/archive/seekable.hpp>
#include <nanlens/archive/tar.hpp>
#include <nanlens/reader/reader.hpp>

#include "../support/logdir_generator.hpp"
#include "../support/temporary_directory.hpp"

using namespace nanlens;

namespace {

std::unique_ptr<reader::MemoryStorage> logdir_files(int calls) {
  auto storage = std::make_unique<reader::MemoryStorage>();
  for (std::size_t i = 0; i < logdir::num_file_kinds; ++i)
    storage->put(test::generated_name(static_cast<logdir::FileKind>(i)), "");
  test::LogdirGenerator({.calls = calls}, [&](logdir::FileKind kind, const std::string& bytes) {
    storage->append(test::generated_name(kind), bytes);
  }).run();
  return storage;
}

std::string packed(reader::Storage& storage) {
  std::string bytes;
  std::string why;
  REQUIRE(archive::pack(
      storage, storage.list(), 1'700'000'000, [&](const char* p, std::size_t n) { return bytes.append(p, n), true; },
      why));
  return bytes;
}

std::unique_ptr<reader::Storage> opened(const std::string& bytes, std::string& why, std::uint64_t limit = 1 << 30) {
  return archive::open(std::make_unique<reader::MemorySource>(bytes), why, limit);
}

std::string content(reader::Storage& storage, const std::string& name) {
  std::string why;
  const auto source = storage.open(name, why);
  std::string bytes(source->size(), '\0');
  bytes.resize(source->read(0, reinterpret_cast<unsigned char*>(bytes.data()), bytes.size()));
  return bytes;
}

std::string tar_of(const std::string& name, const std::string& bytes) {
  std::string tar = archive::tar_header(name, bytes.size(), 0) + bytes;
  tar.resize(archive::tar_padded(tar.size()));
  return tar + std::string(1024, '\0');
}

std::string zstd_of(const std::string& bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 1));
  return out;
}

}  // namespace

TEST_CASE("what is packed opens again, equal, and reads as a logdir") {
  const auto files = logdir_files(20'000);
  std::string why;
  auto archive = opened(packed(*files), why);
  REQUIRE_MESSAGE(archive != nullptr, why);
  CHECK(archive->list() == files->list());
  for (const auto& name : files->list()) CHECK(content(*archive, name) == content(*files, name));
  reader::Logdir logdir(std::move(archive));
  logdir.update();
  CHECK(logdir.runs()[0]->num_traces() == 200'000);
  CHECK(logdir.runs()[0]->diagnostics().empty());
}

TEST_CASE("the system's tar and zstd read it, and we read what they make") {
  const test::TemporaryDirectory dir;
  const auto files = logdir_files(50);
  std::ofstream(dir / "a.nanlens", std::ios::binary) << packed(*files);
  const std::string name = files->list()[0];
  REQUIRE(std::system(("cd " + dir.path() +
                       " && mkdir out && tar --zstd -xf a.nanlens -C out && zstd -dqc a.nanlens > a.tar && "
                       "tar -cf plain.tar -C out . && tar --zstd -cf made.tar.zst -C out .")
                          .c_str()) == 0);
  std::ifstream unpacked(dir / ("out/" + name), std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(unpacked), {}) == content(*files, name));
  for (const char* file : {"a.tar", "plain.tar", "made.tar.zst"}) {
    std::string why;
    const auto archive = archive::open(std::make_unique<reader::FileSource>(dir / file), why);
    REQUIRE_MESSAGE(archive != nullptr, why);
    CHECK(archive->list() == files->list());
    CHECK(content(*archive, name) == content(*files, name));
  }
}

TEST_CASE("no frame is shared by two files") {
  auto two = std::make_unique<reader::MemoryStorage>();
  two->put("a", "first");
  two->put("b", "second");
  const std::string bytes = packed(*two);
  const std::size_t first = ZSTD_findFrameCompressedSize(bytes.data(), bytes.size());
  CHECK(ZSTD_getFrameContentSize(bytes.data(), bytes.size()) == 1024);
  CHECK(ZSTD_getFrameContentSize(bytes.data() + first, bytes.size() - first) == 1024);
}

TEST_CASE("hostile archives get an error, and bounded memory") {
  std::string why;
  SUBCASE("names that lead out") {
    for (const char* name : {"../evil", "/etc/passwd", "a/../../b", "a//b"}) {
      why.clear();
      CHECK(opened(tar_of(name, "x"), why) == nullptr);
      CHECK(why.find("leads out") != std::string::npos);
    }
  }
  SUBCASE("a size beyond the end") {
    std::string tar = tar_of("a", "x");
    tar.replace(0, 512, archive::tar_header("a", 1 << 30, 0));
    CHECK(opened(tar, why) == nullptr);
    CHECK(why.find("more than there are") != std::string::npos);
  }
  SUBCASE("a bomb without a seek table") {
    const auto bomb = opened(zstd_of(tar_of("a", std::string(8 << 20, '\0'))), why, 1 << 20);
    REQUIRE_MESSAGE(bomb != nullptr, why);
    CHECK(content(*bomb, "a").size() <= std::size_t{1} << 20);
    CHECK(words(bomb->fault()).find("nanlens pack") != std::string::npos);
  }
  SUBCASE("a seek table that lies") {
    const auto files = logdir_files(3);
    const std::string good = packed(*files);
    std::string bad = good;  // frame 0 claims 4 GiB
    const std::size_t entries = bad.size() - archive::seek_footer_bytes - 8 * (1 + files->list().size());
    for (int i = 4; i < 8; ++i) bad[entries + static_cast<std::size_t>(i)] = '\xff';
    CHECK(opened(bad, why) == nullptr);
    CHECK_FALSE(why.empty());
    bad = good;
    bad[bad.size() - archive::seek_footer_bytes] = '\x7f';  // frames that are not there
    why.clear();
    CHECK(opened(bad, why) == nullptr);
    CHECK_FALSE(why.empty());
  }
  SUBCASE("cut anywhere, and flipped anywhere: no crash") {
    const auto files = logdir_files(2);
    const std::string good = packed(*files);
    for (std::size_t cut = 0; cut < good.size(); cut += 13) {
      why.clear();
      CHECK((opened(good.substr(0, cut), why) == nullptr || !why.empty() || cut > 0));
    }
    std::mt19937 random(1);
    for (int i = 0; i < 400; ++i) {
      std::string bad = good;
      bad[random() % bad.size()] = static_cast<char>(random());
      why.clear();
      auto archive = opened(bad, why);
      if (archive == nullptr) {
        CHECK_FALSE(why.empty());
        continue;
      }
      reader::Logdir logdir(std::move(archive));
      logdir.update();
    }
  }
  SUBCASE("a seek table of more frames than are read") {
    archive::SeekTable table;
    for (std::uint32_t i = 0; i <= limits::frames; ++i) table.add(0, 0);
    CHECK(opened(std::string("\x28\xb5\x2f\xfd", 4) + table.bytes(), why) == nullptr);
    CHECK(why.find("frames") != std::string::npos);
  }
  SUBCASE("a frame larger than is held") {
    archive::SeekTable table;
    table.add(4, static_cast<std::uint32_t>(limits::frame_bytes) + 1);
    CHECK(opened(std::string("\x28\xb5\x2f\xfd", 4) + table.bytes(), why) == nullptr);
    CHECK(why.find("more than is allowed") != std::string::npos);
  }
  SUBCASE("more files than are read") {
    std::string tar;
    for (std::size_t i = 0; i <= limits::archive_entries; ++i) tar += archive::tar_header(std::to_string(i), 0, 0);
    CHECK(opened(tar, why) == nullptr);
    CHECK(why.find("files") != std::string::npos);
  }
  SUBCASE("not an archive") {
    CHECK(opened("hello", why) == nullptr);
    CHECK_FALSE(why.empty());
    why.clear();
    CHECK(opened(zstd_of("hello"), why) == nullptr);
    CHECK_FALSE(why.empty());
  }
}

TEST_CASE("an archive without a seek table is unpacked in slices, and can be stopped") {
  const auto files = logdir_files(20'000);
  std::string tar;
  for (const auto& name : files->list()) {
    const std::string bytes = content(*files, name);
    tar += archive::tar_header(name, bytes.size(), 0) + bytes;
    tar.resize(archive::tar_padded(tar.size()));
  }
  tar += std::string(1024, '\0');
  const std::string compressed = zstd_of(tar);
  std::string why;
  SUBCASE("whole") {
    reader::Logdir logdir(opened(compressed, why));
    int asked = 0;
    std::uint64_t seen = 0;
    const auto stop_at_third = [&](std::uint64_t done, std::uint64_t total) {
      CHECK(done >= seen);
      CHECK(done <= total);
      seen = done;
      return ++asked != 3;
    };
    logdir.update(stop_at_third);
    CHECK(asked == 3);
    CHECK(logdir.runs().empty());
    logdir.update();
    REQUIRE(logdir.runs().size() == 1);
    CHECK(logdir.runs()[0]->num_executions() == 40'000);
    CHECK(logdir.fault().empty());
  }
  SUBCASE("cut off: what was there is read, and that it was cut is told") {
    reader::Logdir logdir(opened(compressed.substr(0, compressed.size() / 2), why));
    logdir.update();
    CHECK(words(logdir.fault()).find("cut off") != std::string::npos);
    REQUIRE(logdir.runs().size() == 1);
    CHECK(logdir.runs()[0]->num_executions() > 1'000);
    const auto faults = logdir.runs()[0]->diagnostics();
    CHECK(std::any_of(faults.begin(), faults.end(),
                      [](const auto& d) { return d.message().find("cut off") != std::string::npos; }));
  }
}

TEST_CASE("of two files with one name the last one counts") {
  std::string why;
  const std::string first = tar_of("a", "old");
  const auto archive = opened(first.substr(0, first.size() - 1024) + tar_of("a", "new"), why);
  REQUIRE_MESSAGE(archive != nullptr, why);
  CHECK(archive->list().size() == 1);
  CHECK(content(*archive, "a") == "new");
}

TEST_CASE("long names survive") {
  auto storage = std::make_unique<reader::MemoryStorage>();
  const std::string name = std::string(120, 'd') + "/" + std::string(90, 'f');
  storage->put(name, "content");
  std::string why;
  const auto archive = opened(packed(*storage), why);
  REQUIRE_MESSAGE(archive != nullptr, why);
  CHECK(content(*archive, name) == "content");
}
