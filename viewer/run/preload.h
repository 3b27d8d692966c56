/** @file
 * Between the files of the library that `nanlens run` loads into programs.
 */
#pragma once

typedef void* open_function(const char*, int);

/** dlopen as it is without us. */
open_function* real_dlopen(void);
