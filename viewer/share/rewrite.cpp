#include "rewrite.hpp"

#include <google/protobuf/message.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ios>
#include <memory>
#include <numeric>
#include <utility>

#include <nanlens/logdir/file_set.hpp>
#include <nanlens/logdir/tfrecord.hpp>
#include <nanlens/reader/directory_storage.hpp>
#include <nanlens/reader/reader.hpp>

#include "file_text.hpp"
#include "report/failure.hpp"
#include "report/mutes_files.hpp"
#include "report/rules_files.hpp"
#include "tfdbg2.pb.h"

namespace nanlens::share {

namespace {

namespace fs = std::filesystem;
using google::protobuf::FieldDescriptor;

bool holds_any(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    if (text.find(word) != std::string::npos) return true;
  return false;
}

std::string word_instead(std::size_t k) { return "redacted" + (k == 0 ? std::string() : std::to_string(k + 1)); }

bool is_text(const FieldDescriptor& field) {
  return field.type() == FieldDescriptor::TYPE_STRING || field.name() == "string_val";
}

// Numbers spell a word as short as this by chance; a longer one in them was put there.
constexpr std::size_t longest_chance = 5;

// The format's own version can't be another one. Numbers stay, and are searched at the end. A serialised graph would
// break: it goes whole.
std::string redacted_field(const FieldDescriptor& field, const std::string& text,
                           const std::vector<std::string>& words) {
  if (field.name().find("graph_def") != std::string::npos) return holds_any(text, words) ? std::string() : text;
  if (field.name() == "file_version" && holds_any(text, words))
    throw report::Failure("'" + text +
                          "', the version of the format, can't be taken out of a logdir. Nothing was written");
  return is_text(field) ? redacted(text, words) : text;
}

void redact_message(google::protobuf::Message& message, const std::vector<std::string>& words) {
  const auto& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* const field : fields) {
    const int n = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < n; ++i) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
        redact_message(field->is_repeated() ? *reflection.MutableRepeatedMessage(&message, field, i)
                                            : *reflection.MutableMessage(&message, field),
                       words);
      else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING && field->is_repeated())
        reflection.SetRepeatedString(&message, field, i,
                                     redacted_field(*field, reflection.GetRepeatedString(message, field, i), words));
      else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING)
        reflection.SetString(&message, field, redacted_field(*field, reflection.GetString(message, field), words));
    }
  }
}

void write_record(std::ofstream& file, const std::string& payload) {
  unsigned char header[logdir::record_header_bytes];
  logdir::write_record_header(header, payload.size());
  unsigned char footer[logdir::record_footer_bytes];
  logdir::detail::store_le(
      footer, logdir::masked_crc32c(reinterpret_cast<const unsigned char*>(payload.data()), payload.size()));
  file.write(reinterpret_cast<const char*>(header), sizeof header);
  file.write(payload.data(), static_cast<std::streamsize>(payload.size()));
  file.write(reinterpret_cast<const char*>(footer), sizeof footer);
}

// One file of a logdir.
class FileRewriter {
 public:
  FileRewriter(const std::string& name, const Rewriting& rewriting) : rewriting_(rewriting) {
    std::string stem;
    logdir::parse_file_name(name.substr(name.rfind('/') + 1), stem, kind_);
    if (!rewriting.keep) return;
    if (const auto kept = rewriting.keep->offsets.find(name); kept != rewriting.keep->offsets.end())
      kept_ = &kept->second;
    if (const auto left_out = rewriting.keep->left_out.find(name.substr(0, name.rfind('/') + 1) + stem);
        left_out != rewriting.keep->left_out.end())
      left_out_ = left_out->second;
  }

  /// Empty if the record is not kept; nothing if it can't be read.
  std::optional<std::string> record(std::uint64_t offset, reader::Bytes payload) {
    const bool is_event = kind_ == logdir::FileKind::execution || kind_ == logdir::FileKind::graph_execution_traces;
    if (rewriting_.keep && is_event && (kept_ == nullptr || !kept_->contains(offset))) return std::string();
    tensorflow::DebugEvent event;
    if (!event.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) return std::nullopt;
    if (rewriting_.no_source && event.has_source_file()) event.mutable_source_file()->clear_lines();
    if (rewriting_.no_source && event.has_stack_frame_with_id())
      event.mutable_stack_frame_with_id()->mutable_file_line_col()->clear_code();
    if (left_out_ > 0 && event.has_debug_metadata())
      event.mutable_nanlens()->set_left_out_ops(event.nanlens().left_out_ops() + left_out_);
    if (!rewriting_.redact.empty()) {
      event.DiscardUnknownFields();  // may hold texts
      redact_message(event, rewriting_.redact);
    }
    return event.SerializeAsString();
  }

 private:
  const Rewriting& rewriting_;
  const std::unordered_set<std::uint64_t>* kept_ = nullptr;
  std::uint64_t left_out_ = 0;
  logdir::FileKind kind_{};
};

void rewrite_file(const std::string& name, std::unique_ptr<reader::ByteSource> source, const Rewriting& rewriting,
                  const fs::path& to) {
  fs::create_directories(to.parent_path());
  std::ofstream file(to, std::ios::binary | std::ios::trunc);
  FileRewriter rewriter(name, rewriting);
  std::size_t damaged = 0;
  reader::RecordFile records(name, std::move(source));
  reader::RecordScanner scanner;
  scanner.scan(
      records, records.size(),
      [&](std::uint64_t offset, reader::Bytes payload) {
        const auto record = rewriter.record(offset, payload);
        if (!record)
          ++damaged;
        else if (!record->empty())
          write_record(file, *record);
      },
      [&](const reader::ScanFault&) { ++damaged; }, [&](std::uint64_t) { return !rewriting.stopped(); });
  if (!scanner.tail_fault().empty()) ++damaged;
  file.close();
  if (!file) throw report::Failure("can't write '" + to.string() + "'");
  if (damaged > 0) std::fprintf(stderr, "nanlens: %s: damaged records are left out: %zu\n", name.c_str(), damaged);
}

// Of marks, which are a text as a whole.
void copy_text(reader::ByteSource& source, const Rewriting& rewriting, const fs::path& to) {
  std::string text(static_cast<std::size_t>(source.size()), '\0');
  text.resize(source.read(0, reinterpret_cast<unsigned char*>(text.data()), text.size()));
  fs::create_directories(to.parent_path());
  std::ofstream file(to, std::ios::binary | std::ios::trunc);
  file << redacted(std::move(text), rewriting.redact);
  file.close();
  if (!file) throw report::Failure("can't write '" + to.string() + "'");
}

}  // namespace

std::string redacted(std::string text, const std::vector<std::string>& words) {
  // The longest first: a word may be a part of another one.
  std::vector<std::size_t> order(words.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(words[b].size(), a) < std::pair(words[a].size(), b);
  });
  for (const std::size_t k : order) {
    const std::string instead = word_instead(k);
    for (std::size_t at = 0; (at = text.find(words[k], at)) != std::string::npos; at += instead.size())
      text.replace(at, words[k].size(), instead);
  }
  return text;
}

LogdirFiles rewrite(const LogdirFiles& files, const Rewriting& rewriting, const std::string& directory) {
  for (std::size_t k = 0; k < rewriting.redact.size(); ++k)
    if (holds_any(word_instead(k), rewriting.redact))
      throw report::Failure("a part of '" + word_instead(k) +
                            "' can't be taken out: it is what stands instead of a text");
  LogdirFiles result;
  for (const std::string& name : files.names) {
    std::string why;
    auto source = files.storage->open(name, why);
    if (source == nullptr) throw report::Failure("'" + name + "' can't be read: " + why);
    const std::string new_name = redacted(name, rewriting.redact);
    const fs::path to = fs::path(directory) / new_name;
    const std::string own_name = name.substr(name.rfind('/') + 1);
    if (own_name == report::mutes_name || own_name == report::rules_name)
      copy_text(*source, rewriting, to);
    else
      rewrite_file(name, std::move(source), rewriting, to);
    for (const std::string& word : rewriting.redact)
      if (new_name.find(word) != std::string::npos || (word.size() > longest_chance && has_text(to, word)))
        throw report::Failure("'" + word + "' can't be taken out of '" + name +
                              "': it is a part of the format, or of numbers. Nothing was written");
    go_on_unless(rewriting.stopped);
    result.names.push_back(new_name);
  }
  result.storage = std::make_unique<reader::DirectoryStorage>(directory);
  return result;
}

}  // namespace nanlens::share
