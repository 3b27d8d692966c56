// The worker's side: the engine, fed by messages, reading files that the page was given.
#include <emscripten.h>

#include <algorithm>
#include <memory>
#include <string>

#include <nanlens/archive/archive.hpp>

#include "engine/engine.hpp"
#include "engine/message.hpp"

// clang-format off
EM_JS(int, nl_js_file_count, (), { return self.nl.files.length; });
EM_JS(double, nl_js_file_size, (int index), { const f = self.nl.files[index]; return f ? (f.blob ? f.blob.size : f.size) : 0; });
EM_JS(void, nl_js_file_name, (int index, char* to, int capacity), { stringToUTF8(self.nl.files[index].name, to, capacity); });
// Bytes read, or −1 with a reason.
EM_JS(int, nl_js_file_read, (int index, double offset, unsigned char* to, int count, char* why, int capacity), {
  try {
    const bytes = self.nl.read(index, offset, count);
    HEAPU8.set(bytes, to);
    return bytes.length;
  } catch (error) {
    stringToUTF8(error.name === 'NotReadableError' ? 'it changed while it was read and cannot be reopened here; drop the folder again' : String(error.message), why, capacity);
    return -1;
  }
});
EM_JS(void, nl_js_reply, (const char* bytes, int size), { self.nl.reply(bytes, size); });
// clang-format on

namespace nanlens::page {

namespace {

// A file of the page, by its number. A folder that is looked at again replaces the file behind the number.
class PageFile final : public reader::ByteSource {
 public:
  explicit PageFile(int index) : index_(index) {}
  std::uint64_t size() override { return static_cast<std::uint64_t>(nl_js_file_size(index_)); }
  std::size_t read(std::uint64_t offset, unsigned char* to, std::size_t count) override {
    const std::uint64_t there = size();
    if (offset >= there) return 0;
    char why[256] = {};
    const int wanted = static_cast<int>(std::min<std::uint64_t>({count, there - offset, 1u << 30}));
    const int n = nl_js_file_read(index_, static_cast<double>(offset), to, wanted, why, sizeof why);
    error_ = n < 0 ? why : "";
    return n < 0 ? 0 : static_cast<std::size_t>(n);
  }
  std::string error() override { return error_; }

 private:
  int index_;
  std::string error_;
};

class PageStorage final : public reader::Storage {
 public:
  std::vector<std::string> list(std::string_view prefix = {}) override {
    std::vector<std::string> names;
    for (int i = 0; i < nl_js_file_count(); ++i) {
      std::string name = name_of(i);
      if (std::string_view(name).substr(name.rfind('/') + 1).starts_with(prefix)) names.push_back(std::move(name));
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  std::unique_ptr<reader::ByteSource> open(const std::string& name, std::string& why) override {
    for (int i = 0; i < nl_js_file_count(); ++i)
      if (name_of(i) == name) return std::make_unique<PageFile>(i);
    why = "there is no such file";
    return nullptr;
  }
  static std::string name_of(int index) {
    char name[4096] = {};
    nl_js_file_name(index, name, sizeof name);
    return name;
  }
};

std::unique_ptr<reader::Storage> open_page(const std::string&, std::string& why) {
  return archive::open_files(std::make_shared<PageStorage>(), why);
}

viewer::Engine& engine() {
  static viewer::Engine the_engine(open_page);
  return the_engine;
}

void send_replies() {
  for (const viewer::Reply& reply : engine().take_replies()) {
    std::string bytes;
    viewer::write_message(reply, bytes);
    nl_js_reply(bytes.data(), static_cast<int>(bytes.size()));
  }
}

}  // namespace

extern "C" {
EMSCRIPTEN_KEEPALIVE void nl_engine_start() { engine(); }
EMSCRIPTEN_KEEPALIVE void nl_engine_handle(const char* bytes, int size) {
  viewer::Request request;
  if (viewer::read_message(bytes, static_cast<std::size_t>(size), request)) engine().handle(std::move(request));
}
EMSCRIPTEN_KEEPALIVE int nl_engine_step() {
  const bool more = engine().step();
  send_replies();
  return more ? 1 : 0;
}
}

}  // namespace nanlens::page
