#include "baseline.hpp"

#include "json.hpp"

namespace nanlens::findings {

namespace {

const Json* member(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

void add_text(const Json* text, std::set<std::string>& to) {
  if (text != nullptr && text->is_string()) to.insert(text->get<std::string>());
}

// False if a SARIF log is not of nanlens.
bool add_sarif(const Json& runs, std::set<std::string>& to) {
  bool ours = false;
  for (const Json& run : runs) {
    const Json* const tool = member(run, "tool");
    const Json* const driver = tool == nullptr ? nullptr : member(*tool, "driver");
    const Json* const name = driver == nullptr ? nullptr : member(*driver, "name");
    if (name == nullptr || *name != "nanlens") continue;
    ours = true;
    const Json* const results = member(run, "results");
    if (results == nullptr || !results->is_array()) continue;
    for (const Json& result : *results)
      if (const Json* const prints = member(result, "partialFingerprints"))
        add_text(member(*prints, "nanlensFinding/v1"), to);
  }
  return ours;
}

}  // namespace

std::optional<std::set<std::string>> fingerprints_in(std::string_view text, std::string& why) {
  const Json json = Json::parse(text, nullptr, false);
  std::set<std::string> found;
  const Json* const format = member(json, "format");
  const Json* const list = member(json, "findings");
  if (format != nullptr && *format == "nanlens-check" && list != nullptr && list->is_array()) {
    for (const Json& finding : *list) add_text(member(finding, "fingerprint"), found);
    return found;
  }
  const Json* const runs = member(json, "runs");
  if (runs != nullptr && runs->is_array() && add_sarif(*runs, found)) return found;
  why = json.is_discarded() ? "it is no JSON" : "it is neither what `nanlens check --format json` wrote nor its SARIF";
  return std::nullopt;
}

}  // namespace nanlens::findings
