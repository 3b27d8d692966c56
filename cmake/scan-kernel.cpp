/// @file
/// The kernel that looks at tensors in a GPU's memory. `sh cmake/scan-kernel.sh` compiles it to the PTX that
/// include/nanlens/hosts/cuda/scan_ptx.inl holds; it needs clang alone, no CUDA.

#include "nanlens/hosts/cuda/scan.hpp"

namespace {

using namespace nanlens::cuda_scan;

struct Totals {
  Word64 counts[5];
  Word64 blocks_done;
};

constexpr Word32 words_per_scan = sizeof(TensorScan) / sizeof(Word64);

/// ScanBatch as the kernel reads it: from where arguments lie, which only plain loads reach.
struct Argument {
  Word64 words[sizeof(ScanBatch) / sizeof(Word64)];
};

__attribute__((address_space(3))) Word64 own_scan[words_per_scan];
__attribute__((address_space(3))) Word32 of_warps[threads_per_block / 32][5];

Word32 sum_of_warp(Word32 value) {
  for (int step = 16; step > 0; step /= 2)
    value += static_cast<Word32>(__nvvm_shfl_sync_down_i32(~0U, static_cast<int>(value), step, 31));
  return value;
}

// The sum of all threads' counts, for the block's first thread.
void add_up(const ThreadCounts& counts, Word64 sums[5]) {
  const Word32 own[5] = {counts.neg_inf, counts.pos_inf, counts.nan, counts.negative, counts.zero};
  const auto thread = static_cast<Word32>(__nvvm_read_ptx_sreg_tid_x());
  for (int k = 0; k < 5; ++k) {
    const Word32 sum = sum_of_warp(own[k]);
    if (thread % 32 == 0) of_warps[thread / 32][k] = sum;
  }
  __syncthreads();
  if (thread != 0) return;
  for (int k = 0; k < 5; ++k) {
    sums[k] = 0;
    for (Word32 warp = 0; warp < threads_per_block / 32; ++warp) sums[k] += of_warps[warp][k];
  }
}

void give(ScanResult& result, const Word64 sums[5]) {
  result.neg_inf = sums[0];
  result.pos_inf = sums[1];
  result.nan = sums[2];
  result.negative = sums[3];
  result.zero = sums[4];
}

}  // namespace

/// A row of blocks for each tensor. `results` lies in the host's memory; `totals` is zero, and is left so.
extern "C" __attribute__((nvptx_kernel)) void nanlens_scan(const Argument batch, ScanResult* results, void* memory) {
  const auto row = static_cast<Word32>(__nvvm_read_ptx_sreg_ctaid_y());
  const auto block = static_cast<Word64>(__nvvm_read_ptx_sreg_ctaid_x());
  const auto blocks = static_cast<Word64>(__nvvm_read_ptx_sreg_nctaid_x());
  const auto thread = static_cast<Word32>(__nvvm_read_ptx_sreg_tid_x());
  if (thread < words_per_scan) own_scan[thread] = batch.words[row * words_per_scan + thread];
  __syncthreads();
  const TensorScan& scan = *reinterpret_cast<const TensorScan*>((const Word64*)own_scan);
  ScanResult& result = results[row];
  if (block == 0 && thread < scan.num_places) result.words[thread] = word_at(scan.places[thread]);
  if (scan.count == 0) return;
  Word64 sums[5];
  add_up(count_share(scan, block * threads_per_block + thread, blocks * threads_per_block), sums);
  if (thread != 0) return;
  if (blocks == 1) return give(result, sums);
  Totals& totals = static_cast<Totals*>(memory)[row];
  for (int k = 0; k < 5; ++k)
    if (sums[k] != 0) __atomic_fetch_add(&totals.counts[k], sums[k], __ATOMIC_RELAXED);
  __nvvm_membar_gl();
  if (__atomic_fetch_add(&totals.blocks_done, Word64{1}, __ATOMIC_RELAXED) + 1 != blocks) return;
  __nvvm_membar_gl();
  for (int k = 0; k < 5; ++k) sums[k] = __atomic_exchange_n(&totals.counts[k], Word64{0}, __ATOMIC_RELAXED);
  totals.blocks_done = 0;
  give(result, sums);
}
