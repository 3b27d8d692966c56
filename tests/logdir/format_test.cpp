#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include <nanlens/logdir/decode.hpp>
#include <nanlens/logdir/file_set.hpp>
#include <nanlens/logdir/tensor_values.hpp>

using namespace nanlens;
using namespace nanlens::logdir;

TEST_CASE("crc32c: known answers, and hardware and tables agree") {
  CHECK(crc32c("123456789", 9) == 0xe3069283u);
  CHECK(crc32c("", 0) == 0);
  std::string text;
  for (int i = 0; i < 300; ++i) {
    const auto* p = reinterpret_cast<const unsigned char*>(text.data());
    CHECK(crc32c(text.data(), text.size()) == ~logdir::detail::crc_software(0xffffffffu, p, text.size()));
    text += static_cast<char>(i * 37);
  }
}

TEST_CASE("golden bytes: a metadata record that TensorFlow 2.21 wrote") {
  constexpr unsigned char golden[] = {0x2c, 0,    0,    0,    0,    0,    0,    0,    0xf4, 0xae, 0xcc, 0x45,
                                      0x09, 0x94, 0xc0, 0xf7, 0xe3, 0x35, 0xc0, 0xda, 0x41, 0x1a, 0x21, 0x0a,
                                      0x06, 0x32, 0x2e, 0x32, 0x31, 0x2e, 0x30, 0x12, 0x0d, 0x64, 0x65, 0x62,
                                      0x75, 0x67, 0x2e, 0x45, 0x76, 0x65, 0x6e, 0x74, 0x3a, 0x31, 0x1a, 0x08,
                                      0x65, 0x66, 0x66, 0x34, 0x66, 0x37, 0x38, 0x39, 0xee, 0x70, 0xb7, 0x22};
  DebugEvent event;
  std::memcpy(&event.wall_time, golden + 13, 8);
  event.what = DebugMetadata{"2.21.0", "debug.Event:1", "eff4f789"};
  std::string bytes;
  append_event(bytes, event);
  REQUIRE(bytes.size() == sizeof golden);
  CHECK(std::memcmp(bytes.data(), golden, sizeof golden) == 0);
}

TEST_CASE("varints, and fields of the wrong type") {
  for (const std::uint64_t value : {0ull, 127ull, 128ull, 16383ull, 16384ull, ~0ull}) {
    unsigned char bytes[10];
    CHECK(static_cast<std::size_t>(write_varint(bytes, value) - bytes) == varint_size(value));
  }
  const unsigned char overlong[] = {0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
  WireReader r(overlong);
  CHECK_FALSE(r.next());
  CHECK(r.failed());
}

TEST_CASE("file names") {
  CHECK(file_set_stem(5, "a.b") == "tfdbg_events.0000000005.a.b");
  std::string stem;
  FileKind kind{};
  REQUIRE(parse_file_name("tfdbg_events.1700000000.host.with.dots.execution", stem, kind));
  CHECK(stem == "tfdbg_events.1700000000.host.with.dots");
  CHECK(kind == FileKind::execution);
  CHECK_FALSE(parse_file_name("tfdbg_events.1.host.execution.part", stem, kind));
  CHECK_FALSE(parse_file_name("events.out.tfevents.1", stem, kind));
}

TEST_CASE("full tensors: typed lists repeat their last value") {
  TensorProto proto;
  proto.dtype = 1;
  proto.shape = TensorShapeProto{{{4, ""}}, false};
  CHECK(tensor_health(proto)->zero == 4);
  proto.float_val = {1.0f, -INFINITY};
  CHECK(*tensor_health(proto) == HealthCounts{3, 0, 0, 0, 0, 1});
  proto.tensor_content = "abc";
  CHECK_FALSE(tensor_health(proto).has_value());
  proto.dtype = 3;
  CHECK_FALSE(tensor_health(proto).has_value());
}
