/// @file
/// The subcommands of `nanlens`. Each returns the exit code; errors are thrown as Failure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "share/shared_page.hpp"

namespace nanlens::cli {

struct DumpOptions {
  std::string path;
  std::string what;
  std::string run;
  std::int64_t begin = 0;
  std::int64_t end = -1;  // −1: all
  bool lines = false;     // source_files: with their text
};

/// Prints one JSON object per line for every item of a kind.
int dump(const DumpOptions& options);

/// Prints every DebugEvent of one file as protobuf JSON, through libprotobuf.
int dump_raw(const std::string& file);

/// Human text: runs, counts, the cause, the first bad tensor and the line that made it, alerts by op.
int report(const std::string& path);

struct WhyOptions {
  std::string path;
  std::string run;
  std::int64_t row = -1;        // −1: not asked about
  std::int64_t execution = -1;  // the same
  std::int64_t output = -1;     // of the execution; −1: its first bad one
  std::string mutes;            // a file; empty: those that are found
  bool json = false;
};

/// Why there is a NaN: the cause, the chain, the evidence, the remedy; of the run, or of one event.
int why(const WhyOptions& options);

struct TensorOptions {
  std::string path;
  std::string run;
  std::string file;             // empty: facts are printed
  std::int64_t row = -1;        // −1: not asked about
  std::int64_t execution = -1;  // the same
  std::int64_t input = -1;      // −1: an output
  std::int64_t output = -1;     // −1: the first that is stored
};

/// The values of a tensor that are on record, as an .npy file or in words.
int tensor(const TensorOptions& options);

struct CheckOptions {
  std::string path;
  bool strict = false;
  std::string format = "text";          // of stdout
  std::vector<std::string> outputs;     // "FORMAT=FILE"
  std::string source_root;              // empty: the working directory
  std::string baseline;                 // a logdir, or what an earlier check wrote; empty: none
  std::string mutes;                    // a file; empty: those that are found
  std::vector<std::string> rules;       // "NAME: CONDITIONS"
  std::vector<std::string> rule_files;  // of such lines; "standard": those that ship
};

/// What is wrong, and how far it was looked at, on stdout and in files. Exit code 0 clean, 1 there is a NaN or infinity
/// that is neither muted nor known, or an error by a rule, 3 where that can't be told: nothing was checked, or the
/// recording lost events or did not end in order.
int check(const CheckOptions& options);

/// A run's report as a page of HTML, without scripts, in a file, or on stdout if it has no name.
int report_page(const CheckOptions& options, const std::string& output);

/// Is all that `check` writes read by people?
bool for_people(const CheckOptions& options);

/// What is wrong with a "FORMAT=FILE"; empty if nothing is.
std::string why_no_output(const std::string& output);

/// Moves what recordings that died have left in memory into TensorFlow's six files. Throws Failure if one is still
/// running, or if a file can't be written.
int recover(const std::string& path);

/// Prints the path of a host's adapter, a shared library that records what the host does once it is loaded: compiled
/// against `library` (for torch, its libtorch_cpu.so) where the user's cache has none for it yet. Throws Failure with
/// what to install if that can't be done.
int adapter(const std::string& host, const std::string& library);

/// Starts the desktop viewer in place of this process; returns only by throwing Failure.
int view(const std::vector<std::string>& paths);

/// Why `view` would fail: no viewer beside this program, no display. Empty if it would start.
std::string why_no_viewer();

struct RunOptions {
  std::vector<std::string> program;     // its name, and its arguments
  std::string logdir;                   // empty: ./nanlens-DATE-TIME
  std::string mode;                     // empty: FULL_HEALTH
  std::int64_t ring = 0;                // keep the last so many events; 0: all
  std::string traps;                    // floating-point exceptions to trap; empty: none
  std::int64_t every = 0;               // of so many steps one is recorded; 0: all
  std::string steps;                    // "A..B": these are
  std::vector<std::string> rules;       // that the program judges by itself
  std::vector<std::string> rule_files;  // "standard": those that ship
  bool stop_on_rule = false;
  std::string hosts;         // libraries whose ops are recorded, a list with commas; empty: all known
  bool check = false;        // exit code 1 if there is a NaN or infinity
  bool best_effort = false;  // run it unrecorded where it can't be recorded
};

/// Runs a program and records it; then says on stderr what was found. Its exit code, or 128 and the signal that ended
/// it.
int run(const RunOptions& options);

struct OnnxOptions {
  std::string model;
  std::vector<std::string> inputs;  // "NAME=FILE.npy", or files in the order of the model's inputs
  std::string random;               // seed of what the other inputs are; empty: they must be given
  std::string library;              // ONNX Runtime's; empty: where the loader looks
  std::string logdir;               // empty: a directory named after the time
  std::string output;               // with it, the model is written there with probes, and does not run
  bool check = false;               // exit code 1 if there is a NaN or infinity
};

/// Runs a model as it was written and as ONNX Runtime optimises it, and names the first bad node of each; or writes it
/// with probes.
int onnx(const OnnxOptions& options);

/// Has the programs that record into a logdir right now rest, or go on recording.
int turn(const std::string& path, bool on);

using ShareOptions = share::PageOptions;

/// Writes the page with a recording in it.
int share(const ShareOptions& options);

/// A logdir into one file.
int pack(const std::string& path, std::string output);

/// An archive into a directory.
int unpack(const std::string& path, const std::string& directory);

}  // namespace nanlens::cli
