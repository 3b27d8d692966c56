/// @file
/// What is wrong with a logdir: which kind of fault it is, and what its text names. English is faults.inl; whoever
/// shows faults in another language brings that one's table.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanlens/logdir/limits.hpp>

namespace nanlens::reader {

/// One entry per kind of fault.
enum class FaultId : std::uint8_t {
#define X(id, english) id,
#include <nanlens/reader/faults.inl>
#undef X
};

/// Names of the kinds, in their order.
inline constexpr std::string_view fault_ids[] = {
#define X(id, english) #id,
#include <nanlens/reader/faults.inl>
#undef X
};
inline constexpr std::size_t num_faults = std::size(fault_ids);

/// Texts by their ids.
using FaultTexts = std::array<const char*, num_faults>;
inline constexpr FaultTexts english_faults = {
#define X(id, english) english,
#include <nanlens/reader/faults.inl>
#undef X
};

/// A value for a name in braces: a number, or a name from the logdir, which is shown in quotes, cut where it is long.
struct FaultValue {
  FaultValue(const char* n, std::integral auto number) : name(n), text(std::to_string(number)) {}
  FaultValue(const char* n, std::string_view from_logdir) : name(n), text("\"") {
    const bool cut = from_logdir.size() > limits::quoted_bytes;
    text.append(from_logdir.substr(0, limits::quoted_bytes)).append(cut ? "…\"" : "\"");
    if (cut) bytes = from_logdir.size();
  }

  const char* name;
  std::string text;
  std::size_t bytes = 0;  ///< of a name that is cut
};

/// A fault, or none.
struct Fault {
  Fault() = default;
  Fault(FaultId kind, std::vector<FaultValue> all = {}) : id(kind), values(std::move(all)) {}

  [[nodiscard]] bool empty() const noexcept { return id == FaultId::none; }

  FaultId id = FaultId::none;
  std::vector<FaultValue> values;
  std::vector<Fault> reason;  ///< {reason}; one at most
  std::string told;           ///< {text}: what is shown as it was told
};

/// What a system, or another layer, tells in its own words; where they are those of a kind of fault, it is that one.
inline Fault told_fault(std::string words) {
  Fault fault(FaultId::as_told);
  for (std::size_t i = 1; i < num_faults; ++i)
    if (words == english_faults[i]) fault.id = static_cast<FaultId>(i);
  fault.told = std::move(words);
  return fault;
}

/// A fault that another one explains.
inline Fault fault_because(FaultId kind, Fault reason) {
  Fault fault(kind);
  fault.reason.push_back(std::move(reason));
  return fault;
}

/// A fault in words of a language.
inline std::string words(const Fault& fault, const FaultTexts& texts = english_faults) {
  const auto add = [&](std::string& out, std::string_view name) {
    if (name == "text") out += fault.told;
    if (name == "reason" && !fault.reason.empty()) out += words(fault.reason.front(), texts);
    for (const FaultValue& value : fault.values) {
      if (name != value.name) continue;
      if (value.bytes == 0) {
        out += value.text;
        continue;
      }
      Fault cut(FaultId::cut_name, {{"n", value.bytes}});
      cut.told = value.text;
      out += words(cut, texts);
    }
  };
  std::string out;
  for (std::string_view text = texts[static_cast<std::size_t>(fault.id)]; !text.empty();) {
    const std::size_t open = text.find('{');
    out += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    add(out, text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
  return out;
}

}  // namespace nanlens::reader
