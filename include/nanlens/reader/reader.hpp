/// @file
/// Everything that reads logdirs.
#pragma once

#include <nanlens/reader/directory_storage.hpp>
#include <nanlens/reader/logdir.hpp>
#include <nanlens/reader/run.hpp>
#include <nanlens/reader/stack.hpp>
#include <nanlens/reader/storage.hpp>
