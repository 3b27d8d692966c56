// Runs what its arguments say, one after the other, for matrix_test.py:
//   open NAME PATH         loads a library, for itself alone     close NAME
//   enable NAME LOGDIR     NAME's unit turns recording on        disable NAME
//   work NAME... ; TIMES   each from a thread of its own         check NAME
// Units that are linked are found by their symbols, the others in their libraries.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>

namespace {

std::map<std::string, void*> libraries;

template <class F>
F* function(const std::string& what, const std::string& unit) {
  const auto library = libraries.find(unit);
  void* const found = ::dlsym(library == libraries.end() ? RTLD_DEFAULT : library->second, (what + "_" + unit).c_str());
  if (found == nullptr) {
    std::fprintf(stderr, "no %s_%s\n", what.c_str(), unit.c_str());
    std::exit(2);
  }
  return reinterpret_cast<F*>(found);
}

void work(const std::vector<std::string>& units, int times) {
  std::vector<std::thread> threads;
  for (const std::string& unit : units) threads.emplace_back(function<void(int)>("work", unit), times);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t i = 0; i < words.size();) {
    const std::string& what = words[i++];
    const std::string& unit = words[i++];
    if (what == "open") {
      libraries[unit] = ::dlopen(words[i++].c_str(), RTLD_NOW | RTLD_LOCAL);
      if (libraries[unit] == nullptr) return std::fprintf(stderr, "%s\n", ::dlerror()), 2;
    } else if (what == "close") {
      ::dlclose(libraries[unit]);
      libraries.erase(unit);
    } else if (what == "enable") {
      function<void(const char*)>("enable", unit)(words[i++].c_str());
    } else if (what == "disable") {
      function<void()>("disable", unit)();
    } else if (what == "check") {
      if (function<int()>("check", unit)() != 1) return std::fprintf(stderr, "%s was not stopped\n", unit.c_str()), 3;
    } else if (what == "work") {
      std::vector<std::string> units{unit};
      while (words[i] != ";") units.push_back(words[i++]);
      work(units, std::stoi(words[i + 1]));
      i += 2;
    }
  }
}
