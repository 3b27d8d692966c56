/// @file
/// The recorder. nanlens.hpp includes it; if NANLENS_SPLIT is defined, one translation unit of the program does.
#pragma once

#include <nanlens/capture/serve.inl>

#if defined(NANLENS_SPLIT)
#include <nanlens/capture/rules.hpp>

extern "C" const void* nanlens_recorder_6() noexcept { return &nanlens::detail::recorder_of_process(); }
#endif
