// The tag enums against the schema as protoc compiled it: the same numbers with the same names, none more and none
// less.
#include <doctest/doctest.h>

#include <array>
#include <string_view>
#include <utility>

#include <nanlens/logdir/tags.hpp>

#include "tfdbg2.pb.h"

namespace tags = nanlens::logdir::tags;

namespace {

// The enumerator with this value, as the compiler spells it: "...value = (Tag)5..." if there is none.
template <auto value>
constexpr std::string_view enumerator() {
  const std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t from = text.find("value = ") + 8;
  const std::string_view spelt = text.substr(from, text.find_first_of(";]", from) - from);
  return spelt.find(')') == spelt.npos ? spelt.substr(spelt.rfind(':') + 1) : std::string_view();
}

// The extension's number is far above the others.
constexpr int names_from_zero = 64;
constexpr int extension = 1000;

template <class Tag>
std::string_view name_of(int number) {
  static constexpr auto names = []<int... i>(std::integer_sequence<int, i...>) {
    return std::array{enumerator<static_cast<Tag>(i)>()...};
  }(std::make_integer_sequence<int, names_from_zero>());
  if (number == extension) return enumerator<static_cast<Tag>(extension)>();
  return number < names_from_zero ? names[static_cast<std::size_t>(number)] : std::string_view();
}

template <class Message, class Tag>
void check() {
  const auto* const schema = Message::descriptor();
  CAPTURE(schema->full_name());
  int found = 0;
  for (int number = 0; number <= extension; ++number) {
    const auto* const field = schema->FindFieldByNumber(number);
    CAPTURE(number);
    CHECK(name_of<Tag>(number) == (field == nullptr ? std::string_view() : std::string_view(field->name())));
    found += field != nullptr;
  }
  CHECK(found == schema->field_count());
}

}  // namespace

TEST_CASE("tags are the schema's field numbers") {
  check<tensorflow::DebugEvent, tags::DebugEvent>();
  check<tensorflow::DebugMetadata, tags::DebugMetadata>();
  check<tensorflow::SourceFile, tags::SourceFile>();
  check<tensorflow::FileLineCol, tags::FileLineCol>();
  check<tensorflow::StackFrameWithId, tags::StackFrameWithId>();
  check<tensorflow::CodeLocation, tags::CodeLocation>();
  check<tensorflow::DebuggedGraph, tags::DebuggedGraph>();
  check<tensorflow::DebuggedDevice, tags::DebuggedDevice>();
  check<tensorflow::GraphOpCreation, tags::GraphOpCreation>();
  check<tensorflow::Execution, tags::Execution>();
  check<tensorflow::GraphExecutionTrace, tags::GraphExecutionTrace>();
  check<tensorflow::TensorShapeProto::Dim, tags::TensorDim>();
  check<tensorflow::TensorShapeProto, tags::TensorShapeProto>();
  check<tensorflow::TensorProto, tags::TensorProto>();
  check<tensorflow::TensorStats, tags::TensorStats>();
  check<tensorflow::AxisEvidence, tags::AxisEvidence>();
  check<tensorflow::TensorEvidence, tags::TensorEvidence>();
  check<tensorflow::Exchange, tags::Exchange>();
  check<tensorflow::RuleHit, tags::RuleHit>();
  check<tensorflow::NanlensExtension, tags::NanlensExtension>();
}
