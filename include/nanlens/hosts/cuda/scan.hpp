/// @file
/// What a GPU is asked about a tensor in its memory, and how each of its threads answers its share: the same code is
/// compiled for the GPU (cmake/scan-kernel.cpp) and, for tests, for the host. It includes nothing, since no standard
/// library is there for a GPU.
#pragma once

// Code that is as fast with less of it. Other compilers than clang need not know how that is said.
#if defined(__NVPTX__)
#define NANLENS_KEEP_LOOP _Pragma("clang loop unroll(disable)")
#else
#define NANLENS_KEEP_LOOP
#endif

namespace nanlens::cuda_scan {

using Word8 = unsigned char;
using Word16 = unsigned short;
using Word32 = unsigned int;
using Word64 = unsigned long long;
static_assert(sizeof(Word16) == 2 && sizeof(Word32) == 4 && sizeof(Word64) == 8);

inline constexpr Word32 scan_rank = 6;   ///< dimensions that remain when a view has been folded; more can't be scanned
inline constexpr Word32 scan_words = 4;  ///< words of a tensor's content that can be asked for
inline constexpr Word32 scans_at_once = 16;
inline constexpr Word32 threads_per_block = 256;

/// A word of memory, of 1 to 8 bytes.
struct ScanPlace {
  Word64 address = 0;
  Word64 bytes = 0;
};

/// A tensor of which elements are counted, or only words are read.
struct TensorScan {
  Word64 address = 0;        ///< of the first element
  Word64 count = 0;          ///< elements; 0: nothing is counted
  Word64 special = 0;        ///< the least magnitude that is not finite: FloatLayout::special
  Word32 element_bytes = 0;  ///< of a part
  Word32 parts = 1;          ///< 2: complex numbers, bad if either part is
  Word32 has_infinity = 1;   ///< as in FloatLayout
  Word32 unsigned_zero = 0;
  Word32 rank = 0;  ///< 0: the elements lie side by side
  Word32 num_places = 0;
  Word64 dims[scan_rank] = {};     ///< innermost first
  Word64 strides[scan_rank] = {};  ///< in elements
  ScanPlace places[scan_words];
};

/// The tensors of one question; what a kernel gets as its argument, which may have 4 KB.
struct ScanBatch {
  TensorScan scans[scans_at_once];
};
static_assert(sizeof(ScanBatch) <= 4000);

/// Elements of one tensor by what they are, and the words of its content.
struct ScanResult {
  Word64 neg_inf = 0;
  Word64 pos_inf = 0;
  Word64 nan = 0;  ///< of complex numbers all bad ones
  Word64 negative = 0;
  Word64 zero = 0;
  Word64 words[scan_words] = {};
};

/// The counts of one thread. Elements are counted by 32 bits: a thread has its share of a tensor only.
struct ThreadCounts {
  Word32 neg_inf = 0;
  Word32 pos_inf = 0;
  Word32 nan = 0;
  Word32 negative = 0;
  Word32 zero = 0;
};

/// What the bits of a floating dtype mean, as FloatLayout has it.
struct BitLayout {
  Word64 special;
  bool has_infinity;
  bool unsigned_zero;
};

/// Counts one element by its bits.
template <class Word>
inline __attribute__((always_inline)) void count_word(const BitLayout& layout, Word word, ThreadCounts& counts) {
  constexpr Word sign = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
  const Word magnitude = word & static_cast<Word>(sign - 1);
  const bool negative = (word & sign) != 0;
  const auto special = static_cast<Word>(layout.special);
  const bool bad = layout.unsigned_zero ? word == sign : magnitude >= special;
  const bool infinite = bad && layout.has_infinity && magnitude == special;
  counts.nan += static_cast<Word32>(bad && !infinite);
  counts.pos_inf += static_cast<Word32>(infinite && !negative);
  counts.neg_inf += static_cast<Word32>(infinite && negative);
  counts.zero += static_cast<Word32>(!bad && magnitude == 0);
  counts.negative += static_cast<Word32>(!bad && negative && magnitude != 0);
}

template <class Word>
inline __attribute__((always_inline)) bool is_bad(const BitLayout& layout, Word word) {
  return (word & static_cast<Word>(static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1)) - 1)) >=
         static_cast<Word>(layout.special);
}

/// Where an element lies, in elements from the first one.
inline Word64 offset_of(const TensorScan& s, Word64 index) {
  if (s.rank == 0) return index;
  Word64 offset = 0;
  NANLENS_KEEP_LOOP
  for (Word32 d = 0; d + 1 < s.rank; ++d) {
    const Word64 rest = index / s.dims[d];
    offset += (index - rest * s.dims[d]) * s.strides[d];
    index = rest;
  }
  return offset + index * s.strides[s.rank - 1];
}

template <class Word>
inline void count_element(const TensorScan& s, const BitLayout& layout, Word64 index, ThreadCounts& counts) {
  const Word* const at = reinterpret_cast<const Word*>(s.address) + offset_of(s, index) * s.parts;
  if (s.parts == 2)
    counts.nan += is_bad(layout, at[0]) || is_bad(layout, at[1]);
  else
    count_word(layout, *at, counts);
}

/// 16 bytes, which a GPU's thread reads at once.
struct Chunk {
  Word64 low;
  Word64 high;
};
inline Chunk chunk_at(Word64 address) {
  Chunk chunk;
#if defined(__NVPTX__)
  // Left to itself, clang reads the halves one by one.
  asm("ld.v2.u64 {%0, %1}, [%2];" : "=l"(chunk.low), "=l"(chunk.high) : "l"(address));
#else
  chunk = *reinterpret_cast<const Chunk*>(address);
#endif
  return chunk;
}

/// As many elements side by side in one word as it has room for, of which most often none is bad: counted all at once.
template <class Word, class Element>
class Lanes {
 public:
  explicit inline __attribute__((always_inline)) Lanes(const BitLayout& layout) : layout_(layout) {
    // What takes a magnitude to the lane's uppermost bit if it isn't finite. Of layouts whose one NaN has the sign of
    // minus zero, anything: each element is looked at.
    const auto distance = static_cast<Element>(sign - static_cast<Element>(layout.special));
    to_sign_ = spread(layout.unsigned_zero ? sign : distance);
  }

  inline __attribute__((always_inline)) void count(Word word, ThreadCounts& counts) const {
    constexpr Word signs = spread(sign);
    constexpr Word magnitudes = spread(static_cast<Element>(sign - 1));
    const Word magnitude = word & magnitudes;
    if (((magnitude + to_sign_) & signs) != 0) return count_each(word, counts);
    const Word nonzero = (magnitude + magnitudes) & signs;
    counts.zero += static_cast<Word32>(sizeof(Word) / sizeof(Element)) - ones(nonzero);
    counts.negative += ones(word & nonzero);
  }

 private:
  static constexpr Element sign = static_cast<Element>(Element{1} << (8 * sizeof(Element) - 1));

  static constexpr Word spread(Element element) {
    Word word = 0;
    for (Word32 i = 0; i < sizeof(Word) / sizeof(Element); ++i)
      word |= static_cast<Word>(Word{element} << (8 * sizeof(Element) * i));
    return word;
  }
  static inline __attribute__((always_inline)) Word32 ones(Word word) {
    if constexpr (sizeof(Word) == sizeof(Element)) return word != 0 ? 1 : 0;
    return static_cast<Word32>(__builtin_popcount(static_cast<Word32>(word)));
  }
  inline __attribute__((always_inline)) void count_each(Word word, ThreadCounts& counts) const {
    NANLENS_KEEP_LOOP
    for (Word32 shift = 0; shift < 8 * sizeof(Word); shift += 8 * sizeof(Element))
      count_word(layout_, static_cast<Element>(word >> shift), counts);
  }

  const BitLayout& layout_;
  Word to_sign_;
};

template <class Element>
inline __attribute__((always_inline)) void count_chunk(const BitLayout& layout, const Chunk& chunk,
                                                       ThreadCounts& counts) {
  if constexpr (sizeof(Element) == 8) {
    const Lanes<Word64, Word64> lanes(layout);
    lanes.count(chunk.low, counts);
    lanes.count(chunk.high, counts);
  } else {
    const Lanes<Word32, Element> lanes(layout);
    lanes.count(static_cast<Word32>(chunk.low), counts);
    lanes.count(static_cast<Word32>(chunk.low >> 32), counts);
    lanes.count(static_cast<Word32>(chunk.high), counts);
    lanes.count(static_cast<Word32>(chunk.high >> 32), counts);
  }
}

/// What thread number `thread` of `threads` counts: elements side by side by 16 bytes; those before and behind, and
/// others, one by one.
template <class Word>
inline void count_share(const TensorScan& s, Word64 thread, Word64 threads, ThreadCounts& counts) {
  const BitLayout layout{s.special, s.has_infinity != 0, s.unsigned_zero != 0};
  constexpr Word64 per_chunk = sizeof(Chunk) / sizeof(Word);
  const bool by_chunks = s.rank == 0 && s.parts == 1 && s.address % sizeof(Word) == 0;
  Word64 head = (sizeof(Chunk) - s.address % sizeof(Chunk)) % sizeof(Chunk) / sizeof(Word);
  if (head > s.count || !by_chunks) head = s.count;
  const Word64 chunks = (s.count - head) / per_chunk;
  const Word64 first = s.address + head * sizeof(Word);
  NANLENS_KEEP_LOOP
  for (Word64 i = thread; i < chunks; i += threads)
    count_chunk<Word>(layout, chunk_at(first + i * sizeof(Chunk)), counts);
  const Word64 singles = s.count - chunks * per_chunk;
  NANLENS_KEEP_LOOP
  for (Word64 k = thread; k < singles; k += threads)
    count_element<Word>(s, layout, k < head ? k : k + chunks * per_chunk, counts);
}

inline __attribute__((always_inline)) ThreadCounts count_share(const TensorScan& s, Word64 thread, Word64 threads) {
  ThreadCounts counts;
  switch (s.element_bytes) {
    case 1: count_share<Word8>(s, thread, threads, counts); break;
    case 2: count_share<Word16>(s, thread, threads, counts); break;
    case 4: count_share<Word32>(s, thread, threads, counts); break;
    default: count_share<Word64>(s, thread, threads, counts); break;
  }
  return counts;
}

/// The bytes of a place, lowest first; a word on its boundary in one go.
inline Word64 word_at(const ScanPlace& place) {
  if (place.bytes == 8 && place.address % 8 == 0) return *reinterpret_cast<const Word64*>(place.address);
  Word64 word = 0;
  for (Word64 i = 0; i < place.bytes; ++i)
    word |= Word64{*reinterpret_cast<const Word8*>(place.address + i)} << (8 * i);
  return word;
}

}  // namespace nanlens::cuda_scan

#undef NANLENS_KEEP_LOOP
