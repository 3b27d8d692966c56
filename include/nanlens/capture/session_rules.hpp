/// @file
/// The rules of a recording, as the recorder keeps them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <nanlens/capture/options.hpp>
#include <nanlens/capture/rule_engine.hpp>
#include <nanlens/config.hpp>
#include <nanlens/logdir/events.hpp>
#include <nanlens/logdir/rule_outcomes.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// What judges the events of one session, if it was given rules. Begun and ended while no thread records.
class SessionRules {
 public:
  SessionRules() = default;
  SessionRules(const SessionRules&) = delete;
  SessionRules& operator=(const SessionRules&) = delete;
  ~SessionRules() { end(); }

  /// Reads the rules. What is wrong with any is told on stderr; the recording goes on without it. What became of those
  /// before, of the same recording, is kept.
  void begin(const DumpOptions& options) {
    before_ = outcomes();
    end();
    if (options.rules.empty()) return;
    if (own_rule_engine == nullptr) {
      std::fprintf(
          stderr,
          "nanlens: nothing here judges by rules: include <nanlens/capture/rules.hpp> in one file of the program, "
          "or link nanlens::compiled\n");
      return;
    }
    const std::vector<TextRef> items(options.rules.begin(), options.rules.end());
    const RuleTexts texts{items.data(), items.size(), static_cast<std::int32_t>(options.tensor_debug_mode),
                          options.extension && options.statistics};
    engine_ = own_rule_engine;
    book_ = engine_->begin(
        texts,
        [](void*, TextRef what) { std::fprintf(stderr, "nanlens: %.*s\n", static_cast<int>(what.size), what.data); },
        nullptr);
    asks_statistics_ = book_ != nullptr && engine_->asks_statistics(book_);
    static std::atomic<std::uint64_t> books{0};
    serial_ = ++books;
  }

  /// Is there a rule?
  [[nodiscard]] bool active() const noexcept { return book_ != nullptr; }
  [[nodiscard]] bool asks_statistics() const noexcept { return asks_statistics_; }
  /// Which of the process's sets of rules it is.
  [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }
  [[nodiscard]] RulesAbout about(const RuleEvent& event) const noexcept { return engine_->about(book_, event); }
  template <class Take>
  void judge(const RulesAbout& about, const RuleEvent& event, Take& take) const noexcept {
    engine_->judge(
        book_, about, event, [](void* to, const RuleHolds& what) { (*static_cast<Take*>(to))(what); }, &take);
  }
  [[nodiscard]] RuleRef rule(std::size_t number) const noexcept { return engine_->rule(book_, number); }
  /// How many rows no rule could judge, of more outputs than are followed.
  [[nodiscard]] std::uint64_t not_followed() const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; active() && i < engine_->num_rules(book_); ++i)
      sum += engine_->counts(book_, i).not_followed;
    return sum;
  }

  /// The rule ends the program. False: another one does already, in another thread.
  bool note_stop(std::size_t number) noexcept {
    std::size_t nobody = none;
    return stopped_by_.compare_exchange_strong(nobody, number, std::memory_order_relaxed);
  }
  /// What became of each since the recording was made, for the metadata.
  [[nodiscard]] std::vector<logdir::RuleHit> outcomes() const {
    logdir::RuleOutcomes all;
    all.add(before_);
    for (std::size_t i = 0; active() && i < engine_->num_rules(book_); ++i) {
      const RuleRef of = rule(i);
      const RuleCounts counts = engine_->counts(book_, i);
      all.add({std::string(of.name.view()), std::string(of.level.view()), std::string(of.expression.view()),
               std::string(of.reason.view()), 0, counts.hits, stopped_by_.load() == i, counts.not_followed,
               counts.idle});
    }
    return all.list();
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  void end() noexcept {
    if (book_ != nullptr) engine_->end(book_);
    book_ = nullptr;
    asks_statistics_ = false;
    stopped_by_.store(none, std::memory_order_relaxed);
  }

  std::vector<logdir::RuleHit> before_;
  const RuleEngine* engine_ = nullptr;
  void* book_ = nullptr;
  bool asks_statistics_ = false;
  std::uint64_t serial_ = 0;
  std::atomic<std::size_t> stopped_by_{none};
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
