// `nanlens share`: the page with a recording in it, as one file.
#include <cstdio>

#include "commands.hpp"

namespace nanlens::cli {

int share(const ShareOptions& options) {
  std::printf("%s\n", share::write_page(options).c_str());
  return 0;
}

}  // namespace nanlens::cli
