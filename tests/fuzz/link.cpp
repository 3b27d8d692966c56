// Links to a view and settings of an earlier session, a line each: the first before a logdir is open, the others after.
#include "viewer_subject.hpp"

namespace {

using namespace nanlens;

void apply(test::Headless& v, const std::string& line) {
  if (line.starts_with('{'))
    v.app().apply_settings(line);
  else
    v.app().apply_link(line);
  v.settle();
  fuzz::check_sound(v);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t most = 6;
  const auto lines = fuzz::lines_of({reinterpret_cast<const char*>(data), size}, most);
  test::Headless v;
  constexpr std::size_t sets[] = {2, 0};
  for (const std::size_t set : sets) fuzz::add_records(v.memory[fuzz::memory_path(set)], fuzz::base_sets()[set], 0, 1);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    apply(v, lines[i]);
    if (i == 0) v.open({fuzz::memory_path(sets[0]), fuzz::memory_path(sets[1])});
  }
  // What the viewer then says is its view leads to that view.
  const std::string link = v.app().link();
  v.app().apply_link(link);
  v.settle();
  fuzz::require(v.app().link() == link);
  fuzz::require(v.state().is_object());
  return 0;
}
