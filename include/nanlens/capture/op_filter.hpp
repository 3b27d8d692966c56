/// @file
/// Which tensors are recorded: by the type of the op and by dtype.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <regex.h>

#include <nanlens/capture/options.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// The filters restrict tensor values and traces only, never executions and op creations (as in TensorFlow).
class OpFilter {
 public:
  explicit OpFilter(const DumpOptions& options) : dtypes_(options.tensor_dtypes) {
    if (!options.op_regex.empty()) status_ = ::regcomp(&regex_, options.op_regex.c_str(), REG_EXTENDED);
    has_regex_ = !options.op_regex.empty() && status_ == 0;
  }
  OpFilter(const OpFilter&) = delete;
  OpFilter& operator=(const OpFilter&) = delete;
  ~OpFilter() {
    if (has_regex_) ::regfree(&regex_);
  }

  /// What is wrong with the expression; empty if nothing is.
  [[nodiscard]] std::string error() const {
    if (status_ == 0) return {};
    char text[256];
    ::regerror(status_, &regex_, text, sizeof text);
    return text;
  }
  /// Does it take whatever comes?
  [[nodiscard]] bool takes_all() const noexcept { return dtypes_.empty() && !has_regex_; }
  [[nodiscard]] bool takes(std::string_view op_type, DType dtype) const {
    if (!dtypes_.empty() && std::find(dtypes_.begin(), dtypes_.end(), dtype) == dtypes_.end()) return false;
    if (!has_regex_) return true;
    // Python's re.match: anchored at the start only. The leftmost match starts there if any does.
    regmatch_t match{};
#if defined(REG_STARTEND)
    match.rm_eo = static_cast<regoff_t>(op_type.size());
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): its end is in match
    return ::regexec(&regex_, op_type.data(), 1, &match, REG_STARTEND) == 0 && match.rm_so == 0;
#else
    return ::regexec(&regex_, std::string(op_type).c_str(), 1, &match, 0) == 0 && match.rm_so == 0;
#endif
  }

 private:
  std::vector<DType> dtypes_;
  regex_t regex_{};
  int status_ = 0;
  bool has_regex_ = false;
};

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
