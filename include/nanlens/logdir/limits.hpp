/// @file
/// How much of what a logdir or an archive holds is believed. Content may be damaged or made to harm: whatever it
/// claims, reading takes time and memory in proportion to the bytes that are there. A limit that bites becomes a
/// diagnostic.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::limits {

/// @name Files and records
///@{
/// The end of what is read of a file. The index keeps 40 bits per place; a sparse file may claim any size.
inline constexpr std::uint64_t file_bytes = (std::uint64_t{1} << 40) - 1;
/// Bytes of one payload; a longer one is passed over. The largest that make sense are FULL_TENSOR's; a page has less
/// memory.
#if defined(__EMSCRIPTEN__)
inline constexpr std::uint64_t record_bytes = std::uint64_t{128} << 20;
#else
inline constexpr std::uint64_t record_bytes = std::uint64_t{512} << 20;
#endif
/// How far the next intact record is looked for behind a damaged header: two of the longest records may lie between.
inline constexpr std::uint64_t resynchronise_bytes = 2 * record_bytes;
/// While it is looked for, every header found makes its payload be checked. Headers that were made to overlap would be
/// checked again and again: so many bytes per byte of the file, and so many for any file, are read for that.
inline constexpr std::uint64_t checked_bytes_per_byte = 4;
inline constexpr std::uint64_t checked_bytes_of_any_file = std::uint64_t{1} << 20;
/// Headers found meanwhile whose records the file does not hold yet. They are looked at again whenever it has grown; in
/// a file that is being written there is one.
inline constexpr std::size_t incomplete_headers = 64;
/// What is read of a metadata file: a record for each time the recording began or ended.
inline constexpr std::uint64_t metadata_bytes = std::uint64_t{4} << 20;
///@}

/// @name One event
/// A repeated field takes two bytes per empty element in the file, and 24 to 400 in memory. Beyond these numbers
/// elements are not read.
///@{
/// Outputs, inputs, tensor ids, devices, ops of an op's list, frames of a stack. The largest functions have thousands.
inline constexpr std::size_t elements = 1 << 16;
/// Lines of a source file, strings of a tensor.
inline constexpr std::size_t texts = 1 << 20;
/// Dimensions of a tensor; TensorFlow stops at 254.
inline constexpr std::size_t dimensions = 1024;
/// Numbers in one of a TensorProto's typed lists. Dumped tensors have theirs as plain bytes.
inline constexpr std::size_t listed_values = std::size_t{1} << 24;
/// Bytes of a name or id that the index keeps. Events with longer ones are passed over: cut, they could be taken for
/// others.
inline constexpr std::size_t name_bytes = 1 << 16;
/// Bytes of a name that a diagnostic repeats.
inline constexpr std::size_t quoted_bytes = 200;
///@}

/// @name A run
///@{
/// Graphs inside graphs. Real ones nest a dozen deep; every row asks for the graphs around it.
inline constexpr std::size_t graph_nesting = 256;
/// File sets of a logdir; each has six files open.
inline constexpr std::size_t file_sets = 4096;
///@}

/// @name The search for causes
/// What one bad tensor may cost, whatever its graph looks like. What is left out is told with the answer; how far one
/// looks for what only seems to fit belongs to the rules.
///@{
/// Inputs of one op, or of one call. The widest Concat and AddN of real models have hundreds.
inline constexpr std::size_t inputs_looked_at = 4096;
/// Consumers of one tensor that may have removed what is bad. A learning rate has one for each variable.
inline constexpr std::size_t consumers_looked_at = 4096;
/// Integers that came of what one cause made bad, for each of which a choice is looked for.
inline constexpr std::size_t integers_of_root = 16;
/// Ops in which a cause came in, of which any may be a layer: where there are more, the first ones are looked at.
inline constexpr std::size_t arrivals_of_root = 16;
/// Ops that fail on the zeros on which a cause failed, of which any may lead: where there are more, the first ones may.
inline constexpr std::size_t twins_of_root = 8;
/// Earlier causes that what follows from one has met, and these in turn: all are asked for whether it was left out.
inline constexpr std::size_t joined_of_root = 4;
inline constexpr std::size_t joined_in_turn = 3;
/// Calls that were given something bad and have no rows yet, of which a logdir that grows may still get some: where
/// there are more, the newest are asked again.
inline constexpr std::size_t calls_without_rows = 4096;
/// Steps from such integers to that choice. T5's distances take three.
inline constexpr std::size_t integer_steps = 64;
/// Ops that made the condition by which one leaves out what is bad, and tensors between that and what it asks of: a
/// mask is put together of some dozens at most. Behind more, the condition may be one that a NaN decides.
inline constexpr std::size_t question_steps = 64;

/// Tensors that are looked through behind a complex one, which has no summary of its own: a chain of transforms and
/// products is much shorter.
inline constexpr std::size_t complex_steps = 64;
/// Steps from an input to what fed it, through nested calls and control flow. A sound graph takes some dozens;
/// candidates of a nested call some hundreds.
inline constexpr std::size_t link_steps = 4096;
/// Tensors, of either kind, that a nested call may have been given: the nearest before it.
inline constexpr std::size_t candidates = 128;
/// Bad rows that are looked at, back from an event, for one that looks the same.
inline constexpr std::size_t rows_alike = 512;
/// Executions before an event, of which calls are searched for a row that they did not hand out.
inline constexpr std::uint32_t calls_back = 8;
/// How deep such steps lead into functions in functions.
inline constexpr int link_depth = 24;
/// Causes that are kept one by one; more are counted by op.
inline constexpr std::size_t causes = 100'000;
///@}

/// @name Archives
///@{
/// What an archive without a seek table may hold: it is unpacked in memory.
#if defined(__EMSCRIPTEN__)
inline constexpr std::uint64_t unpacked_bytes = std::uint64_t{256} << 20;
#else
inline constexpr std::uint64_t unpacked_bytes = std::uint64_t{1} << 30;
#endif
/// Decompressed bytes of one frame, and of all frames that are kept at a time.
inline constexpr std::size_t frame_bytes = std::size_t{64} << 20;
/// Frames of a seek table. nanlens' have 4 MiB each: as many as a file of the greatest size has.
inline constexpr std::uint32_t frames = 1 << 20;
/// Files in an archive. A few bytes of zstd can stand for many headers.
inline constexpr std::size_t archive_entries = 100'000;
///@}

/// @name Memory of a recording that died
///@{
/// What is read of it: a ring of large FULL_TENSOR values may be as large as the program's memory.
inline constexpr std::uint64_t live_bytes = unpacked_bytes;
///@}

/// @name Directories
/// A directory that is followed may hold anything else too.
///@{
/// Entries that one look visits at most.
inline constexpr std::size_t directory_entries = 1'000'000;
/// A look at more entries than this is not repeated at once: a large directory would take a core.
inline constexpr std::size_t entries_looked_at_freely = 1000;
/// How long it is not repeated, per entry: a look takes some 0.3 µs per entry, so that this is 1 % of a core.
inline constexpr std::uint64_t pause_ns_per_entry = 30'000;
///@}

}  // namespace nanlens::inline NANLENS_ABI::limits
