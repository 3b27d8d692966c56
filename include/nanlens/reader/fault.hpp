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
Fault told_fault(std::string words);

/// A fault that another one explains.
Fault fault_because(FaultId kind, Fault reason);

/// A fault in words of a language.
std::string words(const Fault& fault, const FaultTexts& texts = english_faults);

}  // namespace nanlens::reader

#if !defined(NANLENS_SPLIT)
#include <nanlens/reader/fault_words.inl>
#endif
