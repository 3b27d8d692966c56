#include <google/protobuf/util/json_util.h>

#include <iostream>

#include <nanlens/reader/reader.hpp>

#include "commands.hpp"
#include "open.hpp"
#include "tfdbg2.pb.h"

namespace nanlens::cli {

int dump_raw(const std::string& file) {
  auto source = std::make_unique<reader::FileSource>(file);
  if (!source->error().empty()) throw Failure("can't open '" + file + "': " + source->error());
  reader::RecordFile records(file, std::move(source));
  reader::RecordScanner scanner;
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  bool sound = true;
  const auto complain = [&](std::uint64_t offset, const std::string& message) {
    std::cerr << "nanlens: " << file << " at byte " << offset << ": " << message << '\n';
    sound = false;
  };
  scanner.scan(
      records, records.size(),
      [&](std::uint64_t offset, reader::Bytes payload) {
        tensorflow::DebugEvent event;
        std::string json;
        if (!event.ParseFromArray(payload.data(), static_cast<int>(payload.size())))
          return complain(offset, "the record is not a valid DebugEvent");
        const auto status = google::protobuf::util::MessageToJsonString(event, &json, options);
        if (!status.ok()) return complain(offset, std::string(status.message()));
        std::cout << json << '\n';
      },
      [&](const reader::ScanFault& fault) { complain(fault.offset, words(fault.what)); },
      [](std::uint64_t) { return true; });
  if (!scanner.tail_fault().empty()) complain(scanner.position(), words(scanner.tail_fault()));
  constexpr int damaged = 2;
  return sound ? 0 : damaged;
}

}  // namespace nanlens::cli
