/// @file
/// What a program is told meanwhile.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "temporary_directory.hpp"

namespace nanlens::test {

/// What is written to stderr while the body runs.
template <class Body>
std::string told_by(const Body& body) {
  const TemporaryDirectory dir;
  const std::string path = dir / "stderr";
  std::fflush(stderr);
  const int before = ::dup(STDERR_FILENO);
  std::FILE* const file = std::fopen(path.c_str(), "w");
  ::dup2(::fileno(file), STDERR_FILENO);
  body();
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  std::fclose(file);
  std::ifstream text(path);
  return {std::istreambuf_iterator<char>(text), {}};
}

}  // namespace nanlens::test
