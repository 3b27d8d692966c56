// The way to the worker and back: every member of every message arrives, and no bytes do harm.
#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "engine/members.hpp"
#include "engine/message.hpp"

namespace viewer = nanlens::viewer;

namespace {

// Gives every member, however deep, a value of its own that is not the default.
class Fill {
 public:
  template <class... T>
  void operator()(T&... values) {
    (set(values), ...);
  }
  template <class T>
  void set(T& value) {
    if constexpr (std::is_same_v<T, bool>)
      value = true;
    else if constexpr (std::is_enum_v<T>)
      value = static_cast<T>(1);
    else if constexpr (std::is_arithmetic_v<T>)
      value = static_cast<T>(++count_ % 100 + 1);
    else
      viewer::with_members(value, *this);
  }
  void set(std::string& text) { text = "text " + std::to_string(++count_); }
  template <class T>
  void set(std::vector<T>& list) {
    list.resize(2);
    for (T& item : list) set(item);
  }
  [[nodiscard]] int count() const { return count_; }

 private:
  int count_ = 0;
};

// Writes members as text: another way than that under test.
class Tell {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (tell(values), ...);
  }
  template <class T>
  void tell(const T& value) {
    if constexpr (std::is_enum_v<T>)
      text += std::to_string(static_cast<int>(value)) + ",";
    else if constexpr (std::is_arithmetic_v<T>)
      text += std::to_string(value) + ",";
    else
      viewer::with_members(value, *this);
  }
  void tell(const std::string& value) { text += value + ","; }
  template <class T>
  void tell(const std::vector<T>& list) {
    for (const T& item : list) tell(item);
  }
  std::string text;
};

template <class What>
std::string told(const What& what) {
  Tell tell;
  tell.tell(what);
  return tell.text;
}

template <class What, class Message>
void send(What what, Message message) {
  std::string bytes;
  viewer::write_message(message, bytes);
  Message copy;
  REQUIRE(viewer::read_message(bytes.data(), bytes.size(), copy));
  const What* arrived = nullptr;
  if constexpr (std::is_same_v<Message, viewer::Request>)
    arrived = std::get_if<What>(&copy.what);
  else
    arrived = std::get_if<What>(&copy);
  REQUIRE(arrived != nullptr);
  CHECK(told(*arrived) == told(what));
  // Cut bytes are refused, changed ones are read as something or refused; neither runs past the end.
  for (std::size_t n = 0; n < bytes.size(); ++n) CHECK_FALSE(viewer::read_message(bytes.data(), n, copy));
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    std::string changed = bytes;
    changed[n] = static_cast<char>(~changed[n]);
    (void)viewer::read_message(changed.data(), changed.size(), copy);
  }
}

template <class What>
What filled() {
  What what;
  Fill fill;
  fill.set(what);
  if constexpr (viewer::num_members<What> > 0) CHECK(told(what) != told(What{}));
  return what;
}

template <class... What>
void send_replies(std::type_identity<std::variant<What...>>) {
  (send(filled<What>(), viewer::Reply(filled<What>())), ...);
}

template <class... What>
void send_requests(std::type_identity<std::variant<What...>>) {
  (send(filled<What>(), viewer::Request{7, filled<What>()}), ...);
}

struct Two {
  int a = 0;
  std::vector<viewer::Badge> b;
};
static_assert(viewer::num_members<Two> == 2 && viewer::num_members<viewer::Close> == 0);
static_assert(viewer::num_members<viewer::Badge> == 3 && viewer::num_members<viewer::Select> == 8);

}  // namespace

TEST_CASE("every member of every reply survives the way from the worker") {
  send_replies(std::type_identity<viewer::Reply>{});
}

TEST_CASE("every member of every request survives the way to the worker") {
  send_requests(std::type_identity<decltype(viewer::Request::what)>{});
  std::string bytes;
  viewer::write_message(viewer::Request{7, viewer::Close{}}, bytes);
  viewer::Request request;
  REQUIRE(viewer::read_message(bytes.data(), bytes.size(), request));
  CHECK(request.serial == 7);
}
