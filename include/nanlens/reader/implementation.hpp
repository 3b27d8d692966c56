/// @file
/// The definitions of what reader's headers declare. Those headers include it; if NANLENS_SPLIT is defined, one
/// translation unit of the program does.
#pragma once

#include <nanlens/reader/reader.hpp>

#include <nanlens/reader/run_queries.inl>
#include <nanlens/reader/run_update.inl>
