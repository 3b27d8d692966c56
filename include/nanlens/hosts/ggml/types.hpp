/// @file
/// ggml's types: from its own headers, or with NANLENS_GGML_DECLARED, where there are none, as far as the adapter needs
/// them.
#pragma once

#if defined(NANLENS_GGML_DECLARED)
#include <nanlens/hosts/ggml/declarations.hpp>
#else
#include <ggml-backend.h>
#include <ggml.h>
#endif
