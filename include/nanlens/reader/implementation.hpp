/// @file
/// The definitions of what reader's headers declare. Those headers include it; if NANLENS_SPLIT is defined, one
/// translation unit of the program does.
#pragma once

#include <nanlens/reader/live_storage.hpp>
#include <nanlens/reader/reader.hpp>
#include <nanlens/reader/stored_tensor.hpp>

#include <nanlens/reader/directory_storage.inl>
#include <nanlens/reader/event_digest.inl>
#include <nanlens/reader/fault_words.inl>
#include <nanlens/reader/live_regions.inl>
#include <nanlens/reader/live_set.inl>
#include <nanlens/reader/live_storage.inl>
#include <nanlens/reader/logdir.inl>
#include <nanlens/reader/record_file.inl>
#include <nanlens/reader/record_scanner.inl>
#include <nanlens/reader/run_files.inl>
#include <nanlens/reader/run_queries.inl>
#include <nanlens/reader/run_sets.inl>
#include <nanlens/reader/run_update.inl>
#include <nanlens/reader/stored_tensor.inl>
