#include "app/json_text.hpp"

namespace nanlens::viewer {

std::string json_text(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::json json_of(std::string_view text) { return nlohmann::json::parse(text, nullptr, false); }

}  // namespace nanlens::viewer
