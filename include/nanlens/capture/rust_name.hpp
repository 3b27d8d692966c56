/// @file
/// Names of Rust's functions, from its two manglings of them. Sources: RFC 2603 for what begins with _R; for the older
/// one, which is a C++ name with a hash at its end, what rustc writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN detail {

/// Reads a symbol of RFC 2603. Lifetimes, crates' hashes, and the crate that a generic function was made in are left
/// out.
class RustSymbol {
 public:
  /// The name; empty if the symbol is none, or is nested beyond all measure.
  static std::string name_of(std::string_view symbol) {
    if (!symbol.starts_with("_R")) return {};
    RustSymbol reader(symbol.substr(2));
    reader.path(true);
    return reader.failed_ ? std::string() : std::move(reader.name_);
  }

 private:
  static constexpr int most_nested = 128;
  static constexpr std::size_t longest_name = 4096;

  explicit RustSymbol(std::string_view text) : text_(text) {}

  // Counts how deep the reading is.
  struct Level {
    explicit Level(RustSymbol& of) : reader(of) {
      if (++reader.depth_ > most_nested || reader.name_.size() > longest_name) reader.failed_ = true;
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --reader.depth_; }
    RustSymbol& reader;
  };

  [[nodiscard]] char peek() const noexcept { return !failed_ && at_ < text_.size() ? text_[at_] : '\0'; }
  bool eat(char c) noexcept {
    if (failed_ || peek() != c) return false;
    ++at_;
    return true;
  }
  char take() noexcept {
    if (failed_ || at_ >= text_.size()) return fail(), '\0';
    return text_[at_++];
  }
  void fail() noexcept { failed_ = true; }
  void put(std::string_view text) {
    if (!skipping_) name_ += text;
  }

  static int digit62(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'z') return c - 'a' + 10;
    return c >= 'A' && c <= 'Z' ? c - 'A' + 36 : -1;
  }
  // A crate's hash may be larger than all others; nobody asks for its value.
  std::uint64_t base62() noexcept {
    if (eat('_')) return 0;
    std::uint64_t value = 0;
    while (!failed_ && !eat('_')) {
      const int digit = digit62(take());
      if (digit < 0) return fail(), 0;
      value = value * 62 + static_cast<std::uint64_t>(digit);
    }
    return value + 1;
  }
  std::uint64_t disambiguator() noexcept { return eat('s') ? base62() + 1 : 0; }
  std::string_view identifier() noexcept {
    (void)eat('u');  // Punycode, as it is
    std::size_t size = 0;
    if (peek() < '0' || peek() > '9') return fail(), std::string_view();
    if (!eat('0'))
      while (peek() >= '0' && peek() <= '9' && size <= text_.size())
        size = size * 10 + static_cast<std::size_t>(take() - '0');
    (void)eat('_');
    if (failed_ || size > text_.size() - at_) return fail(), std::string_view();
    at_ += size;
    return text_.substr(at_ - size, size);
  }

  // What was written before, again.
  template <class Read>
  void again(const Read& read) {
    const std::size_t here = at_ - 1;
    const std::uint64_t target = base62();
    if (failed_ || target >= here) return fail();
    const std::size_t after = std::exchange(at_, static_cast<std::size_t>(target));
    read();
    at_ = after;
  }
  template <class Read>
  void without_output(const Read& read) {
    const bool before = std::exchange(skipping_, true);
    read();
    skipping_ = before;
  }
  template <class Read>
  std::size_t list(std::string_view between, const Read& read) {
    std::size_t count = 0;
    for (; !failed_ && !eat('E'); ++count) {
      if (count > 0) put(between);
      read();
    }
    return count;
  }

  // `is_value`: of a function, whose arguments stand behind "::".
  void path(bool is_value) {
    const Level level(*this);
    switch (take()) {
      case 'C': disambiguator(); return put(identifier());
      case 'M': return implementation(false);
      case 'X': return implementation(true);
      case 'Y': return of_trait();
      case 'N': return nested(is_value);
      case 'I':
        path(is_value);
        put(is_value ? "::<" : "<");
        list(", ", [&] { argument(); });
        return put(">");
      case 'B': return again([&] { path(is_value); });
      default: return fail();
    }
  }
  void implementation(bool has_trait) {
    without_output([&] {
      disambiguator();
      path(false);
    });
    if (has_trait) return of_trait();
    put("<");
    type();
    put(">");
  }
  void of_trait() {
    put("<");
    type();
    put(" as ");
    path(false);
    put(">");
  }
  void nested(bool is_value) {
    const char space = take();
    path(is_value);
    const std::uint64_t number = disambiguator();
    const std::string_view name = identifier();
    if (space >= 'a' && space <= 'z') {
      put(name.empty() ? "" : "::");
      return put(name);
    }
    put("::{");
    put(space == 'C' ? "closure" : space == 'S' ? "shim" : std::string_view(&space, 1));
    put(name.empty() ? "" : ":");
    put(name);
    put("#" + std::to_string(number) + "}");
  }

  static std::string_view basic_type(char c) noexcept {
    constexpr std::string_view names[] = {"i8",    "bool", "char", "f64", "str",  "f32",  "",    "u8", "isize",
                                          "usize", "",     "i32",  "u32", "i128", "u128", "_",   "",   "",
                                          "i16",   "u16",  "()",   "...", "",     "i64",  "u64", "!"};
    return c >= 'a' && c <= 'z' ? names[c - 'a'] : std::string_view();
  }
  void type() {
    const Level level(*this);
    const char c = peek();
    if (const std::string_view basic = basic_type(c); !basic.empty()) {
      ++at_;
      return put(basic);
    }
    switch (c) {
      case 'A':
      case 'S': return sequence();
      case 'T': return tuple();
      case 'R':
      case 'Q':
      case 'P':
      case 'O': return pointer();
      case 'F': return function();
      case 'D': return dynamic();
      case 'B': ++at_; return again([&] { type(); });
      default: return path(false);
    }
  }
  void sequence() {
    const bool is_array = take() == 'A';
    put("[");
    type();
    if (is_array) {
      put("; ");
      constant();
    }
    put("]");
  }
  void tuple() {
    take();
    put("(");
    const std::size_t size = list(", ", [&] { type(); });
    put(size == 1 ? ",)" : ")");
  }
  void pointer() {
    const char kind = take();
    if ((kind == 'R' || kind == 'Q') && eat('L')) base62();
    put(kind == 'R' ? "&" : kind == 'Q' ? "&mut " : kind == 'P' ? "*const " : "*mut ");
    type();
  }
  void function() {
    take();
    if (eat('G')) base62();
    if (eat('U')) put("unsafe ");
    if (eat('K')) {
      put("extern \"");
      put(eat('C') ? "C" : identifier());
      put("\" ");
    }
    put("fn(");
    list(", ", [&] { type(); });
    put(")");
    if (eat('u')) return;
    put(" -> ");
    type();
  }
  void dynamic() {
    take();
    if (eat('G')) base62();
    put("dyn ");
    list(" + ", [&] { dynamic_trait(); });
    if (!eat('L')) return fail();
    base62();
  }
  void dynamic_trait() {
    path(false);
    for (std::string_view before = "<"; eat('p'); before = ", ") {
      if (before == "<" && name_.ends_with('>') && !skipping_) {
        name_.pop_back();
        before = ", ";
      }
      put(before);
      put(identifier());
      put(" = ");
      type();
      if (peek() != 'p') put(">");
    }
  }
  void argument() {
    if (eat('L')) {
      base62();
      return put("'_");
    }
    if (eat('K')) return constant();
    type();
  }
  void constant() {
    const Level level(*this);
    if (eat('p')) return put("_");
    if (eat('B')) return again([&] { constant(); });
    const char kind = take();
    const bool negative = eat('n');
    std::uint64_t value = 0;
    while (!failed_ && !eat('_')) {
      const int digit = digit62(take());
      if (digit < 0 || digit > 15 || value >> 60 != 0) return fail();
      value = value << 4 | static_cast<std::uint64_t>(digit);
    }
    if (basic_type(kind).empty()) return fail();
    if (kind == 'b') return put(value != 0 ? "true" : "false");
    if (kind == 'c' && value > ' ' && value <= '~') return put(std::string{'\'', static_cast<char>(value), '\''});
    put((negative ? "-" : "") + std::to_string(value));
  }

  std::string_view text_;
  std::string name_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool skipping_ = false;
  bool failed_ = false;
};

/// The older mangling, from the name that it has as C++'s: "_$LT$a..B$GT$::c::h0123456789abcdef" is "<a::B>::c". Other
/// names stay as they are.
inline std::string without_rust_hash(std::string name) {
  constexpr std::size_t hash_size = 19;  // "::h" and 16 digits
  const std::size_t end = name.size() < hash_size ? 0 : name.size() - hash_size;
  if (end == 0 || name.compare(end, 3, "::h") != 0 ||
      name.find_first_not_of("0123456789abcdef", end + 3) != std::string::npos)
    return name;
  constexpr std::pair<std::string_view, std::string_view> signs[] = {
      {"$LT$", "<"},  {"$GT$", ">"},  {"$RF$", "&"},  {"$BP$", "*"},  {"$LP$", "("},  {"$RP$", ")"},
      {"$C$", ","},   {"$SP$", "@"},  {"$u20$", " "}, {"$u27$", "'"}, {"$u5b$", "["}, {"$u5d$", "]"},
      {"$u7b$", "{"}, {"$u7d$", "}"}, {"$u7e$", "~"}, {"..", "::"}};
  std::string_view rest = std::string_view(name).substr(0, end);
  std::string plain;
  const auto part_begins = [&] { return plain.empty() || plain.ends_with("::"); };
  while (!rest.empty()) {
    if (rest.starts_with("_$") && part_begins()) rest.remove_prefix(1);
    std::string_view sign = rest.substr(0, 1);
    std::string_view meant = sign;
    for (const auto& [from, to] : signs)
      if (rest.starts_with(from)) sign = from, meant = to;
    plain += meant;
    rest.remove_prefix(sign.size());
  }
  return plain;
}

}  // namespace NANLENS_HIDDEN detail
}  // namespace nanlens::inline NANLENS_ABI
