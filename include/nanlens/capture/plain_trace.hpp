/// @file
/// The trace of a tensor that there is nothing to say of but its summary, as nearly all are: encoded at once, in the
/// memory where it is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <nanlens/capture/catalog.hpp>
#include <nanlens/capture/live_file.hpp>
#include <nanlens/config.hpp>
#include <nanlens/logdir/tags.hpp>
#include <nanlens/logdir/wire.hpp>
#include <nanlens/summary/summarize.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// Bytes that a summary takes at most as a field.
inline constexpr std::size_t most_summary_bytes = 12 + sizeof(Summary::values);

/// Writes a summary as a field that is a TensorProto: float64 of shape [size]. Returns the position behind it.
NANLENS_INLINE unsigned char* put_summary(unsigned char* p, logdir::FieldNumber number,
                                          const Summary& summary) noexcept {
  // dtype, tensor_shape { dim { size } }, tensor_content: every tag and length is below 128 and takes one byte.
  using logdir::WireType;
  using Tag = logdir::tags::TensorProto;
  constexpr auto tag = [](logdir::FieldNumber n, WireType t) {
    return static_cast<unsigned char>(logdir::tag_of(n, t));
  };
  constexpr auto dtype = static_cast<unsigned char>(DType::float64);
  constexpr std::size_t fields_before = 10;
  static_assert(fields_before + sizeof summary.values < 128);
  const auto count = static_cast<unsigned char>(summary.size);
  const std::size_t bytes = summary.size * sizeof(double);
  const unsigned char head[] = {tag(number, WireType::length_delimited),
                                static_cast<unsigned char>(fields_before + bytes),
                                tag(Tag::dtype, WireType::varint),
                                dtype,
                                tag(Tag::tensor_shape, WireType::length_delimited),
                                4,
                                tag(logdir::tags::TensorShapeProto::dim, WireType::length_delimited),
                                2,
                                tag(logdir::tags::TensorDim::size, WireType::varint),
                                count,
                                tag(Tag::tensor_content, WireType::length_delimited),
                                static_cast<unsigned char>(bytes)};
  static_assert(sizeof head == 2 + fields_before);
  static_assert(sizeof head + sizeof summary.values == most_summary_bytes);
  std::memcpy(p, head, sizeof head);
  // A copy of a known length is a few moves; what is beyond the summary's own numbers is written over.
  std::memcpy(p + sizeof head, summary.values.data(), sizeof summary.values);
  return p + sizeof head + bytes;
}

/// The fields that every extension field begins with.
struct ExtensionNumbers {
  std::uint64_t thread_id = 0;
  std::uint64_t call_id = 0;
  std::uint64_t duration_ns = 0;
  std::uint64_t fp_flags = 0;
  std::uint64_t graph_run = 0;

  /// Bytes that they take at most.
  static constexpr std::size_t most_bytes = 5 * logdir::most_field_bytes;

  [[nodiscard]] NANLENS_INLINE unsigned char* put(unsigned char* p) const noexcept {
    using Tag = logdir::tags::NanlensExtension;
    p = logdir::write_field(p, Tag::thread_id, thread_id);
    p = logdir::write_field(p, Tag::call_id, call_id);
    p = logdir::write_field(p, Tag::duration_ns, duration_ns);
    p = logdir::write_field(p, Tag::fp_flags, fp_flags);
    return logdir::write_field(p, Tag::graph_run, graph_run);
  }
};

/// An event for queues and rings (see EncodedEvent).
struct PlainTrace {
  const GraphOp& op;
  std::int32_t slot;
  TensorDebugMode mode;
  const Summary& summary;
  std::string_view device;
  bool has_extension;
  ExtensionNumbers extension;
  double wall_time;
  std::uint32_t sequence;

  [[nodiscard]] std::size_t most_content() const noexcept {
    return op.trace_head.size() + device.size() + most_summary_bytes + ExtensionNumbers::most_bytes +
           5 * logdir::most_field_bytes;
  }
  std::size_t put(QueuedEvent& to, unsigned char* const content) const noexcept {
    using Tag = logdir::tags::GraphExecutionTrace;
    unsigned char* p = put_bytes(content, op.trace_head);
    p = logdir::write_field(p, Tag::output_slot, static_cast<std::uint64_t>(slot));
    p = logdir::write_field(p, Tag::tensor_debug_mode, static_cast<std::uint64_t>(mode));
    p = put_summary(p, Tag::tensor_proto, summary);
    if (!device.empty()) {
      p = logdir::write_length(p, Tag::device_name, device.size());
      p = put_bytes(p, device);
    }
    const auto message = static_cast<std::size_t>(p - content);
    if (has_extension) {
      p = logdir::write_length(p, logdir::tags::DebugEvent::nanlens, 0);
      unsigned char* const length = p - 1;
      p = extension.put(p);
      static_assert(ExtensionNumbers::most_bytes < 128);
      *length = static_cast<unsigned char>(p - length - 1);
    }
    to.wall_time = wall_time;
    const auto all = static_cast<std::size_t>(p - content);
    to.set_parts(message, message, all);
    to.stack = no_stack;
    to.is_execution = 0;
    to.sequence = sequence;
    return all;
  }

 private:
  NANLENS_INLINE static unsigned char* put_bytes(unsigned char* p, std::string_view bytes) noexcept {
    std::memcpy(p, bytes.data(), bytes.size());
    return p + bytes.size();
  }
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
