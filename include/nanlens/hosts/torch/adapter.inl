/// @file
/// The adapter as a loadable object, which attaches when it is loaded: what `nanlens adapter torch` compiles.

#define NDEBUG
#include <nanlens/capture/rules.hpp>
#include <nanlens/hosts/torch.hpp>

namespace {

[[gnu::constructor]] void attach_when_loaded() { nanlens::torch::attach(); }

}  // namespace
