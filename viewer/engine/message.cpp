#include "message.hpp"

#include <cstring>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "members.hpp"

namespace nanlens::viewer {

namespace {

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}
  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    else
      with_members(value, *this);
  }
  void put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    out_ += text;
  }
  template <class T>
  void put(const std::vector<T>& list) {
    put(static_cast<std::uint32_t>(list.size()));
    for (const T& item : list) put(item);
  }
  template <class... T>
  void put(const std::variant<T...>& value) {
    put(static_cast<std::uint8_t>(value.index()));
    std::visit([this](const auto& what) { this->put(what); }, value);
  }

  std::string& out_;
};

class Reader {
 public:
  Reader(const char* bytes, std::size_t size) : at_(bytes), end_(bytes + size) {}
  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  [[nodiscard]] bool complete() const { return !failed_ && at_ == end_; }

 private:
  template <class T>
  void get(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      take(&value, sizeof value);
    else
      with_members(value, *this);
  }
  void get(std::string& text) {
    std::uint32_t size = 0;
    get(size);
    if (size > left()) return fail();
    text.assign(at_, size);
    at_ += size;
  }
  template <class T>
  void get(std::vector<T>& list) {
    std::uint32_t size = 0;
    get(size);
    if (size > left()) return fail();  // every item takes a byte at least
    list.resize(size);
    for (T& item : list) get(item);
  }
  template <class... T>
  void get(std::variant<T...>& value) {
    std::uint8_t index = 0;
    get(index);
    if (index >= sizeof...(T)) return fail();
    get_alternative(value, index, std::index_sequence_for<T...>{});
  }
  template <class V, std::size_t... I>
  void get_alternative(V& value, std::size_t index, std::index_sequence<I...>) {
    ((I == index ? get(value.template emplace<I>()) : void()), ...);
  }
  void take(void* to, std::size_t size) {
    if (size > left()) return fail();
    if (size > 0) std::memcpy(to, at_, size);  // an empty list has no place
    at_ += size;
  }
  void fail() {
    failed_ = true;
    at_ = end_;
  }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  const char* at_;
  const char* end_;
  bool failed_ = false;
};

}  // namespace

void write_message(const Request& request, std::string& out) {
  Writer w(out);
  w(request);
}
void write_message(const Reply& reply, std::string& out) {
  Writer w(out);
  w(reply);
}

bool read_message(const char* bytes, std::size_t size, Request& request) {
  Reader r(bytes, size);
  r(request);
  return r.complete();
}

bool read_message(const char* bytes, std::size_t size, Reply& reply) {
  Reader r(bytes, size);
  r(reply);
  return r.complete();
}

}  // namespace nanlens::viewer
