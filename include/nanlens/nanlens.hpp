/// @file
/// Everything a host needs to record itself. The standard library is enough: no other header, no library to link.
///
///     nanlens::enable_dump_debug_info(
///         {.logdir = "/tmp/run", .tensor_debug_mode = nanlens::TensorDebugMode::full_health});
///     Matrix y = nanlens::op("MatMul", x * w, x, w);
#pragma once

#include <nanlens/config.hpp>
#include <nanlens/version.hpp>
#if defined(NANLENS_DISABLE)
#include <nanlens/capture/disabled.hpp>
#else
#include <nanlens/capture/check_numerics.hpp>
#include <nanlens/capture/dump.hpp>
#include <nanlens/capture/function.hpp>
#include <nanlens/capture/graph_builder.hpp>
#include <nanlens/capture/op.hpp>
#include <nanlens/tensor/view_of.hpp>
#if !defined(NANLENS_SPLIT)
#include <nanlens/capture/implementation.hpp>
#endif
#endif
