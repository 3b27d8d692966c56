/// @file
/// The definitions of what capture's public headers declare. nanlens.hpp includes it; if NANLENS_SPLIT is defined, one
/// translation unit of the program does.
#pragma once

// First all declarations, then all definitions.
#include <nanlens/capture/check_numerics.hpp>
#include <nanlens/capture/dump.hpp>
#include <nanlens/capture/function.hpp>
#include <nanlens/capture/graph_builder.hpp>
#include <nanlens/capture/op.hpp>

#include <nanlens/capture/check_numerics.inl>
#include <nanlens/capture/dump.inl>
#include <nanlens/capture/environment.inl>
#include <nanlens/capture/function.inl>
#include <nanlens/capture/graph_builder.inl>
#include <nanlens/capture/op.inl>
