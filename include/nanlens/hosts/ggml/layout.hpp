/// @file
/// Whether the structs of a ggml that was found in a program are laid out as declarations.hpp has them.
#pragma once

#define NANLENS_GGML_DECLARED

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include <dlfcn.h>

#include <nanlens/config.hpp>
#include <nanlens/hosts/ggml/functions.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN ggml_host {

/// Looks at tensors that it has ggml make, through ggml's functions and through the declared struct.
class LayoutCheck {
 public:
  LayoutCheck(const Calls& calls, const Makers& make) noexcept : calls_(calls), make_(make) {}
  /// What is not as it is declared; null if all is.
  const char* difference() {
    constexpr std::size_t room = 65536;
    context_ = calls_.init({room, nullptr, true});
    if (context_ == nullptr) return "ggml_init";
    const char* const found = look();
    calls_.free(context_);
    return found;
  }

 private:
  const char* look() {
    constexpr auto f32 = static_cast<::ggml_type>(0);
    constexpr auto f16 = static_cast<::ggml_type>(1);
    ::ggml_tensor* const a = make_.new_tensor_4d(context_, f32, 3, 5, 7, 2);
    ::ggml_tensor* const h = make_.new_tensor_4d(context_, f16, 8, 2, 1, 1);
    if (std::strcmp(make_.type_name(f32), "f32") != 0 || std::strcmp(make_.type_name(f16), "f16") != 0)
      return "ggml_type";
    if (a->type != f32 || h->type != f16) return "type";
    if (!holds(a->ne, {3, 5, 7, 2}) || !holds(h->ne, {8, 2, 1, 1})) return "ne";
    if (!holds(a->nb, {4, 12, 60, 420}) || !holds(h->nb, {2, 16, 32, 32}) || calls_.num_bytes(a) != 840) return "nb";
    make_.set_name(a, "nanlens");
    if (make_.get_name(a) != a->name || std::strcmp(a->name, "nanlens") != 0) return "name";
    if (a->flags != 0) return "flags";
    make_.set_input(a);
    if (a->flags != 1) return "flags";
    ::ggml_tensor* const sum = make_.add(context_, a, a);
    if (sum->src[0] != a || sum->src[1] != a || sum->src[2] != nullptr || sum->src[9] != nullptr) return "src";
    if (std::strcmp(make_.op_name(sum->op), "ADD") != 0 || std::strcmp(make_.op_name(a->op), "NONE") != 0) return "op";
    ::ggml_tensor* const view = make_.view_2d(context_, a, 2, 3, 12, 16);
    if (view->view_src != a || sum->view_src != nullptr) return "view_src";
    if (view->view_offs != 16 || sum->view_offs != 0) return "view_offs";
    return look_at_memory(*a, *view);
  }
  const char* look_at_memory(const ::ggml_tensor& whole, const ::ggml_tensor& view) {
    if (whole.buffer != nullptr || whole.data != nullptr) return "buffer";
    ::ggml_backend_buffer* const buffer = make_.alloc(context_, make_.cpu_buffer_type());
    if (buffer == nullptr) return "ggml_backend_alloc_ctx_tensors_from_buft";
    const bool has_buffer = whole.buffer == buffer && calls_.is_host(buffer);
    const bool has_data = whole.data != nullptr && make_.get_data(&whole) == whole.data &&
                          view.data == static_cast<char*>(whole.data) + 16;
    make_.free_buffer(buffer);
    return !has_buffer ? "buffer" : !has_data ? "data" : nullptr;
  }
  template <class T>
  static bool holds(const T (&numbers)[4], const std::array<T, 4>& expected) noexcept {
    return std::memcmp(numbers, expected.data(), sizeof numbers) == 0;
  }

  const Calls& calls_;
  const Makers& make_;
  ::ggml_context* context_ = nullptr;
};

/// Are the traits of types laid out as they are declared? Only then ggml's function that reads quantised rows is
/// called.
inline bool has_known_traits(const Calls& calls, const Makers& make) {
  for (const int number : {0, 1, 8}) {
    const auto type = static_cast<::ggml_type>(number);
    const ::ggml_type_traits* const traits = calls.traits(type);
    if (traits->type_name != make.type_name(type) || traits->blck_size != calls.block_elements(type) ||
        traits->type_size != calls.block_bytes(type) || traits->is_quantized != (number == 8))
      return false;
  }
  const auto read = calls.traits(static_cast<::ggml_type>(1))->to_float;
  Dl_info own{};
  Dl_info other{};
  if (read == nullptr || ::dladdr(reinterpret_cast<void*>(read), &own) == 0 ||
      ::dladdr(reinterpret_cast<void*>(calls.traits), &other) == 0 || own.dli_fbase != other.dli_fbase)
    return false;
  const std::uint16_t halves[] = {0x3c00, 0xc000};
  float floats[2] = {};
  read(halves, floats, 2);
  return floats[0] == 1.0F && floats[1] == -2.0F;
}

/// Fills in `calls` from a library. Why that can't be done; empty if it is.
inline std::string use_library(void* handle) {
  Makers make{};
  Calls found;
  if (const std::string missing = find_functions(handle, found, make); !missing.empty()) return "it has no " + missing;
  found.is_of_cpu = &is_of_cpu;
  if (const char* const field = LayoutCheck(found, make).difference())
    return std::string("its tensors are laid out in a way that is not known here (") + field + ")";
  Library newer(handle);
  newer.find(found.traits, "ggml_get_type_traits");
  if (found.traits != nullptr && !has_known_traits(found, make)) found.traits = nullptr;
  calls = found;
  return {};
}

}  // namespace NANLENS_HIDDEN ggml_host
}  // namespace nanlens::inline NANLENS_ABI
