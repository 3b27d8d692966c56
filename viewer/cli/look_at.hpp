/// @file
/// What is wrong in a logdir, as `check` and `report --html` tell it.
#pragma once

#include <nanlens/reader/reader.hpp>

#include "commands.hpp"
#include "findings/findings.hpp"

namespace nanlens::cli {

/// The findings and the coverage of a logdir, compared with the baseline, muted and concluded as `options` say. Throws
/// Failure if the baseline or a mutes file can't be read.
findings::Report look_at(const reader::Logdir& logdir, const CheckOptions& options);

}  // namespace nanlens::cli
