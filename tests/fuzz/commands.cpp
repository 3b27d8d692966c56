// Commands as scripts give them, a line each: a name and its arguments as JSON. A line that begins with "+" comes at
// once with the next one, before anything is drawn or answered; "grow" lets a logdir that is open grow, "damage" opens
// one that is damaged as the rest of the line says.
#include <cstring>
#include <random>
#include <utility>

#include "app/commands.hpp"
#include "app/json_text.hpp"
#include "command_samples.hpp"
#include "viewer_subject.hpp"

namespace {

using namespace nanlens;
using test::Json;

class Script {
 public:
  Script() {
    for (std::size_t set = 0; set < fuzz::base_sets().size(); ++set) {
      auto& files = v_.memory[fuzz::memory_path(set)];
      fuzz::add_records(files, fuzz::base_sets()[set], 0, set == growing ? parts : 1);
    }
    v_.open({fuzz::memory_path(2), fuzz::memory_path(growing)});
    rest();
  }
  void line(std::string text) {
    const bool at_once = text.starts_with('+');
    if (at_once) text.erase(0, 1);
    if (text == "grow") return grow();
    if (text.starts_with("damage")) return open_damaged(text.substr(6));
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string name = text.substr(0, end);
    Json arguments = viewer::json_of(end < text.size() ? text.substr(end) : "{}");
    if (arguments.is_discarded()) return;
    if (name == "open_logdir") keep_in_memory(arguments);
    if (at_once)
      run(name, arguments);
    else
      run_and_settle(name, arguments);
    settled_ = !at_once;
  }
  void finish() {
    v_.pass(10);  // toasts end, the link is published
    fuzz::check_sound(v_);
  }

 private:
  static constexpr std::size_t growing = 0;
  static constexpr std::size_t parts = 4;

  // No other files than those of the fuzzer are opened.
  void keep_in_memory(Json& arguments) const {
    if (!arguments.is_object() || !arguments.contains("path") || !arguments["path"].is_string()) return;
    const auto path = arguments["path"].get<std::string>();
    if (!v_.memory.contains(path)) arguments["path"] = "memory:none/" + path;
  }
  viewer::Result run(const std::string& name, const Json& arguments) {
    viewer::Result result = v_.app().command(name, arguments);
    fuzz::require(result.ok || !result.message.empty());
    return result;
  }
  // A command that refuses changes nothing.
  void run_and_settle(const std::string& name, const Json& arguments) {
    const viewer::Result result = run(name, arguments);
    v_.settle();
    const Json before = rest();
    if (!result.ok && settled_) fuzz::require(state_ == before);
  }
  // Checks the viewer at rest. Returns the state in which it rested before.
  Json rest() {
    fuzz::check_sound(v_);
    return std::exchange(state_, v_.lasting_state());
  }
  void open_damaged(const std::string& how) {
    fuzz::Bytes input(reinterpret_cast<const std::uint8_t*>(how.data()), how.size());
    const auto files = fuzz::edited_logdir(input);
    test::GrowingFiles& damaged = v_.memory["memory:damaged"] = {};
    for (const std::string& name : files->list()) damaged.append(name, fuzz::bytes_of_file(*files, name));
    v_.open("memory:damaged");
    rest();
  }
  void grow() {
    if (part_ == parts) return;
    fuzz::add_records(v_.memory[fuzz::memory_path(growing)], fuzz::base_sets()[growing], part_++, parts);
    v_.look_again();
    rest();
  }

  test::Headless v_;
  Json state_;
  std::size_t part_ = 1;
  bool settled_ = true;
};

// ------------------------------------------------------------------------------------------------------- mutations

template <class List>
const auto& one_of(const List& list, std::mt19937& random) {
  return list[random() % std::size(list)];
}

// The line's command with one of its arguments, or another one, of another value.
std::string with_other_argument(const std::string& line, std::mt19937& random) {
  const std::size_t end = std::min(line.find(' '), line.size());
  Json arguments = viewer::json_of(end < line.size() ? line.substr(end) : "{}");
  if (!arguments.is_object()) arguments = Json::object();
  std::string key = one_of(fuzz::argument_names, random);
  if (!arguments.empty() && random() % 4 != 0)
    key = std::next(arguments.begin(), static_cast<std::ptrdiff_t>(random() % arguments.size())).key();
  arguments[key] = viewer::json_of(one_of(fuzz::argument_values, random));
  return line.substr(0, end) + " " + viewer::json_text(arguments);
}

std::string mutate(std::string_view input, std::size_t most, std::mt19937& random) {
  auto lines = fuzz::lines_of(input, input.size() + 1);
  const auto place = [&] { return lines.begin() + static_cast<std::ptrdiff_t>(random() % (lines.size() + 1)); };
  const std::size_t one = lines.empty() ? 0 : random() % lines.size();
  switch (lines.empty() ? 7 : random() % 10) {
    case 0: lines[one] = fuzz::mutated(lines[one], lines[one].size() + 32); break;
    case 1: lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(one)); break;
    case 2: lines.insert(place(), std::string(lines[one])); break;
    case 3: std::swap(lines[one], lines[random() % lines.size()]); break;
    case 4:
    case 5: lines[one] = with_other_argument(lines[one], random); break;
    case 6: lines[one] = lines[one].starts_with('+') ? lines[one].substr(1) : "+" + lines[one]; break;
    default: lines.insert(place(), one_of(fuzz::command_samples, random)); break;
  }
  std::string out;
  for (const std::string& line : lines) out.append(line).append("\n");
  return out.substr(0, most);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t most = 16;
  Script script;
  for (const std::string& line : fuzz::lines_of({reinterpret_cast<const char*>(data), size}, most)) script.line(line);
  script.finish();
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  std::mt19937 random(seed);
  const std::string out = mutate({reinterpret_cast<const char*>(data), size}, max_size, random);
  std::memcpy(data, out.data(), out.size());
  return out.size();
}
