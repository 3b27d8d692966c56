/// @file
/// Requests and replies as bytes, for the way between the page and its worker. Both ends are the same build, so there
/// are no versions: the members of each struct follow each other in the order of their declaration.
#pragma once

#include <string>

#include "protocol.hpp"

namespace nanlens::viewer {

/// Appends a request or a reply.
void write_message(const Request& request, std::string& out);
void write_message(const Reply& reply, std::string& out);

/// Reads what `write_message` wrote. False if the bytes are something else; the value is then not to be used.
bool read_message(const char* bytes, std::size_t size, Request& request);
bool read_message(const char* bytes, std::size_t size, Reply& reply);

}  // namespace nanlens::viewer
