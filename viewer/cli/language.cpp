#include "language.hpp"

#include <cstdlib>

#include "open.hpp"
#include "texts/texts.hpp"

namespace nanlens::cli {

namespace {

viewer::Tongue tongue_named(const std::string& name) {
  if (name == "system") return viewer::tongue_of_environment();
  if (const auto tongue = viewer::tongue_of(name)) return *tongue;
  std::string known;
  for (std::size_t i = 0; i < viewer::tongue_names.size(); ++i)
    known.append(i == 0 ? "" : ", ").append(viewer::tongue_tags[i]);
  throw Failure("there is no language '" + name + "'; there are " + known + " and system");
}

}  // namespace

void speak(const std::string& asked, bool to_people) {
  const char* const environment = std::getenv("NANLENS_LANG");
  if (!asked.empty())
    viewer::set_tongue(tongue_named(asked));
  else if (!to_people)
    viewer::set_tongue(viewer::Tongue::english);
  else if (environment != nullptr && *environment != '\0')
    viewer::set_tongue(tongue_named(environment));
  else
    viewer::set_tongue(viewer::tongue_of_environment());
}

}  // namespace nanlens::cli
