/// @file
/// The definitions of what query's headers declare. Those headers include it; if NANLENS_SPLIT is defined, one
/// translation unit of the program does.
#pragma once

// First all declarations, then all definitions.
#include <nanlens/query/judge.hpp>
#include <nanlens/query/query.hpp>
#include <nanlens/query/row_matcher.hpp>
#include <nanlens/query/rule.hpp>

#include <nanlens/query/judge.inl>
#include <nanlens/query/parse.inl>
#include <nanlens/query/row_matcher.inl>
#include <nanlens/query/rule.inl>
