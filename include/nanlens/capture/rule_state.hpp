/// @file
/// What a thread keeps for rules while it records.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nanlens/capture/options.hpp>
#include <nanlens/capture/rule_engine.hpp>
#include <nanlens/config.hpp>
#include <nanlens/logdir/events.hpp>
#include <nanlens/logdir/recorded_health.hpp>
#include <nanlens/summary/statistics.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

class Session;

/// The first hit of a rule, to be told once the op is recorded.
struct RuleToTell {
  Session* session = nullptr;
  std::size_t number = 0;
  std::uint32_t stack = 0;
  RuleHandler handler;
  bool stops = false;
  RuleHit hit;  ///< but for its stack and message
};

struct RuleState {
  /// Which rules may be about an output: asked once for each.
  struct AboutEntry {
    std::uint64_t key = 0;
    RulesAbout rules;
  };
  std::array<AboutEntry, 1024> about{};
  std::vector<logdir::RuleHit> hits;  ///< of the event being recorded
  bool pins = false;                  ///< it is a rule's first hit
  std::vector<RuleToTell> to_tell;
  bool telling = false;  ///< what a handler records is not judged
  // Of the outputs of the op being recorded.
  std::vector<logdir::TensorHealth> healths;
  std::vector<std::optional<Statistics>> statistics;  ///< as far as they were needed

  void begin_event() noexcept {
    hits.clear();
    pins = false;
    healths.clear();
    statistics.clear();
  }
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
