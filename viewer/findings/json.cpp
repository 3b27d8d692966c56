#include "findings/json.hpp"

namespace nanlens::findings {

std::string json_text(const Json& object) { return object.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string json_line(const Json& object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace nanlens::findings
