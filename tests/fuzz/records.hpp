/// @file
/// Bytes of a record file taken apart and put together again with right checksums, so that what is mutated reaches the
/// code behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/logdir/tfrecord.hpp>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace nanlens::fuzz {

inline const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// The payloads of the records from the start on, checksums unseen; `rest` is what follows the last whole record.
inline std::vector<std::string> split_records(std::string_view bytes, std::string& rest) {
  std::vector<std::string> payloads;
  while (bytes.size() >= logdir::record_overhead) {
    const auto length = logdir::detail::load_le<std::uint64_t>(bytes_of(bytes));
    if (length > bytes.size() - logdir::record_overhead) break;
    const auto n = static_cast<std::size_t>(length);
    payloads.emplace_back(bytes.substr(logdir::record_header_bytes, n));
    bytes.remove_prefix(n + logdir::record_overhead);
  }
  rest = bytes;
  return payloads;
}

/// Appends a payload as a record with right checksums.
inline void append_record(std::string& out, std::string_view payload) {
  unsigned char header[logdir::record_header_bytes];
  logdir::write_record_header(header, payload.size());
  unsigned char footer[logdir::record_footer_bytes];
  logdir::detail::store_le(footer, logdir::masked_crc32c(bytes_of(payload), payload.size()));
  out.append(reinterpret_cast<const char*>(header), sizeof header).append(payload);
  out.append(reinterpret_cast<const char*>(footer), sizeof footer);
}

/// A text with a few of its bytes changed, by libFuzzer's own mutations.
inline std::string mutated(std::string text, std::size_t most) {
  const std::size_t size = text.size();
  text.resize(std::max(size, most) + 1);
  text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, std::max(size, most)));
  return text;
}

/// Changes one record, or leaves one out, doubles it, moves it or damages the framing.
inline std::string mutate_records(std::string_view bytes, std::size_t most, std::mt19937& random) {
  std::string rest;
  std::vector<std::string> payloads = split_records(bytes, rest);
  const auto pick = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  const std::size_t one = pick(payloads.size());
  switch (payloads.empty() ? 6 : random() % 8) {
    case 0: payloads.erase(payloads.begin() + static_cast<std::ptrdiff_t>(one)); break;
    case 1:
      payloads.insert(payloads.begin() + static_cast<std::ptrdiff_t>(pick(payloads.size())), payloads[one]);
      break;
    case 2: std::swap(payloads[one], payloads[pick(payloads.size())]); break;
    case 3: return mutated(std::string(bytes), most);
    case 4: return std::string(bytes.substr(0, pick(bytes.size())));
    case 6: payloads.push_back(mutated(rest, 64)); break;
    default: payloads[one] = mutated(payloads[one], payloads[one].size() + 64); break;
  }
  std::string out;
  for (const std::string& payload : payloads) append_record(out, payload);
  return (out + rest).substr(0, most);
}

}  // namespace nanlens::fuzz
