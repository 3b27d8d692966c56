/// @file
/// The version of nanlens. CMake reads the three numbers from here.
#pragma once

#define NANLENS_VERSION_MAJOR 0
#define NANLENS_VERSION_MINOR 1
#define NANLENS_VERSION_PATCH 0
#define NANLENS_VERSION_STRING "0.1.0"
