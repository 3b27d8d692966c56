/// @file
/// The definitions of what archive's headers declare. Those headers include it; if NANLENS_SPLIT is defined, one
/// translation unit of the program does.
#pragma once

#include <nanlens/archive/archive.hpp>
#include <nanlens/archive/seekable.hpp>
#include <nanlens/archive/tar.hpp>
#include <nanlens/archive/unpacked_storage.hpp>

#include <nanlens/archive/open.inl>
#include <nanlens/archive/open_path.inl>
#include <nanlens/archive/pack.inl>
#include <nanlens/archive/seekable.inl>
#include <nanlens/archive/tar.inl>
#include <nanlens/archive/unpacked_storage.inl>
