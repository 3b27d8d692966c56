/// @file
/// Tensors in a GPU's memory, for the time of a recording call: what they hold is counted where they are, and fetched
/// where it is to be seen.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nanlens/capture/client.hpp>
#include <nanlens/capture/content_sample.hpp>
#include <nanlens/capture/tensor_link.hpp>
#include <nanlens/config.hpp>
#include <nanlens/hosts/cuda/device.hpp>
#include <nanlens/summary/health_counts.hpp>
#include <nanlens/summary/strided.hpp>
#include <nanlens/tensor/float_bits.hpp>
#include <nanlens/tensor/tensor_view.hpp>

namespace nanlens::inline NANLENS_ABI {
namespace NANLENS_HIDDEN cuda_host {

/// A key for memory of a device; `origin` is where the view's first element lies, before all others: it is empty
/// where a stride is negative.
inline detail::TensorKey far_key(TensorView view, std::uintptr_t origin, std::size_t device) noexcept {
  for (const std::int64_t stride : view.strides)
    if (stride < 0) return {};
  view.data = reinterpret_cast<const void*>(origin);
  detail::TensorKey key = detail::key_of(view);
  if (!key.empty()) key.far = static_cast<std::uint8_t>(device + 1);
  return key;
}

/// A few words of memory that a thread has from a device, while it records what they are of.
class KnownWords {
 public:
  /// Null while the thread ends, when ops may still come: then there are none.
  static KnownWords* of_thread() noexcept {
    static thread_local bool gone = false;
    struct Owned {
      ~Owned() { gone = true; }
      KnownWords words;
    };
    if (gone) return nullptr;
    static thread_local Owned owned;
    return &owned.words;
  }
  void add(std::uintptr_t at, std::size_t bytes, std::uint64_t word) { words_.push_back({at, bytes, word}); }
  [[nodiscard]] std::size_t count() const noexcept { return words_.size(); }
  /// Forgets what was added since there were `count`.
  void shrink(std::size_t count) noexcept { words_.resize(count); }
  [[nodiscard]] bool find(std::uintptr_t at, std::size_t bytes, std::uint64_t& word) noexcept {
    // They are asked for in the order in which they were added, as a rule.
    for (std::size_t tried = 0; tried < words_.size(); ++tried) {
      if (next_ >= words_.size()) next_ = 0;
      const Known& known = words_[next_++];
      if (known.at != at || known.bytes != bytes) continue;
      word = known.word;
      return true;
    }
    return false;
  }

 private:
  struct Known {
    std::uintptr_t at = 0;
    std::size_t bytes = 0;
    std::uint64_t word = 0;
  };
  std::vector<Known> words_;
  std::size_t next_ = 0;
};

/// The number of the device whose memory an address is, managed memory included; −1 of the host's own.
inline int device_of(std::uintptr_t address) noexcept {
  constexpr unsigned in_device = 2;  // CU_MEMORYTYPE_DEVICE
  const Driver* const driver = Driver::get();
  unsigned type = 0;
  int number = -1;
  const bool found = driver != nullptr && address != 0 &&
                     driver->cuPointerGetAttribute(&type, Driver::memory_type, address) == Driver::success &&
                     type == in_device &&
                     driver->cuPointerGetAttribute(&number, Driver::device_ordinal, address) == Driver::success;
  return found ? number : -1;
}

/// A device's name as TensorFlow forms it; lasts as long as the program.
inline const char* device_name(std::size_t number) {
  static const auto* const names = [] {
    auto* const all = new std::array<std::string, Device::most_devices>;
    for (std::size_t i = 0; i < all->size(); ++i)
      (*all)[i] = "/job:localhost/replica:0/task:0/device:GPU:" + std::to_string(i);
    return all;
  }();
  return number < names->size() ? (*names)[number].c_str() : gpu_device;
}

/// Does anybody want to know what tensors hold? If not, a device is asked nothing: each question waits for what it has
/// to do. What a tensor is, is told by its address alone, then.
inline bool are_devices_asked() noexcept {
  return (detail::active_bits() & (detail::health_bit | detail::checking_bit)) != 0;
}

/// A nanlens::detail::ReadFar: what was recorded there has been made, so that no stream has to be waited for.
inline bool read_word(std::uintptr_t at, void* to, std::size_t bytes) noexcept {
  if (!are_devices_asked()) return false;
  std::uint64_t word = 0;
  KnownWords* const known = KnownWords::of_thread();
  if (known != nullptr && known->find(at, bytes, word)) {
    std::memcpy(to, &word, bytes);
    return true;
  }
  const int number = device_of(at);
  Device* const device = number < 0 ? nullptr : Device::get(static_cast<std::size_t>(number));
  return device != nullptr && device->copy(nullptr, to, at, bytes);
}

/// What the bits of a floating dtype mean to a scan; false for any other dtype.
inline bool set_layout(TensorScan& scan, DType dtype) noexcept {
  return with_float_layout(dtype, false, [&](auto layout) {
    using Layout = decltype(layout);
    scan.special = Layout::special;
    scan.element_bytes = sizeof(typename Layout::word);
    scan.has_infinity = Layout::has_infinity ? 1 : 0;
    scan.unsigned_zero = Layout::unsigned_zero ? 1 : 0;
    return true;
  });
}

/// Tensors of one recording call. What it gives their views lasts as long as it does.
class FarTensors {
 public:
  /// What is fetched within microseconds.
  static constexpr std::size_t few_bytes = std::size_t{1} << 20;
  /// The largest tensor that is fetched at all; of larger ones there are the counts alone.
  static constexpr std::size_t most_bytes = std::size_t{256} << 20;

  FarTensors() = default;
  FarTensors(const FarTensors&) = delete;
  FarTensors& operator=(const FarTensors&) = delete;
  ~FarTensors() {
    KnownWords* const known = all_.empty() ? nullptr : KnownWords::of_thread();
    if (known != nullptr) known->shrink(words_before_);
  }

  /// Of an input only its content is asked for, to tell whether it is what was recorded; an output is counted, too.
  /// Nothing of those that lie in the host's memory, nor where nobody wants to know.
  enum class Role : std::uint8_t { input, output };
  void add(TensorView& view, detail::TensorKey& key, Role role) {
    if (key.far == 0 || !are_devices_asked()) return;
    const KnownWords* const known = KnownWords::of_thread();
    if (all_.empty() && known != nullptr) words_before_ = known->count();
    all_.push_back({&view, &key, role, {}, {}});
  }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

  /// Asks the devices for counts and words; `stream_of(device)` is where what made them was launched. A tensor of which
  /// nothing can be told is without its key from then on: what nobody looks at is nothing that was recorded.
  template <class StreamOf>
  void look(const StreamOf& stream_of) {
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (!all_[i].looked_at) look_at_device(all_[i].key->far, stream_of);
  }

  /// Has each of them been looked at? Then their devices have done what was asked of them before.
  [[nodiscard]] bool answered() const noexcept {
    return !all_.empty() && std::all_of(all_.begin(), all_.end(), [](const Far& far) { return !far.key->empty(); });
  }
  /// Of all of them together.
  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t sum = 0;
    for (const Far& far : all_) sum += far.key->bytes();
    return sum;
  }
  /// Is an output bad?
  [[nodiscard]] bool any_bad() const noexcept {
    return std::any_of(all_.begin(), all_.end(),
                       [](const Far& far) { return far.counts != nullptr && far.counts->non_finite() != 0; });
  }

  /// Fetches the values of the outputs, or of the inputs, as far as they can be had and have no more than so many
  /// bytes.
  template <class StreamOf>
  void fetch(Role role, std::size_t bytes, const StreamOf& stream_of) {
    for (Far& far : all_)
      if (far.role == role && far.key->far != 0 && far.key->bytes() <= bytes && far.view->data == nullptr)
        fetch_one(far, stream_of);
  }

 private:
  struct Far {
    TensorView* view;
    detail::TensorKey* key;
    Role role;
    std::unique_ptr<HealthCounts> counts;
    std::unique_ptr<char[]> content;
    bool looked_at = false;
  };

  // How the elements of a tensor are counted; how many each stands for. False if they can't be.
  static bool set_counting(TensorScan& scan, const TensorView& view, const detail::TensorKey& key,
                           std::uint64_t& repeats) noexcept {
    const bool complex = dtype_kind(view.dtype) == DTypeKind::complex;
    const DType part = view.dtype == DType::complex64 ? DType::float32 : complex ? DType::float64 : view.dtype;
    if (!set_layout(scan, part)) return false;
    TensorView at = view;
    at.data = reinterpret_cast<const void*>(key.begin);
    const detail::Folded folded = detail::fold(at, dtype_bytes(view.dtype));
    if (folded.rank > scan_rank) return false;
    scan.parts = complex ? 2 : 1;
    scan.address = key.begin;
    scan.count = 1;
    for (std::size_t d = 0; d < folded.rank; ++d) {
      scan.dims[d] = static_cast<std::uint64_t>(folded.dims[d]);
      scan.strides[d] = static_cast<std::uint64_t>(folded.strides[d]);
      scan.count *= scan.dims[d];
    }
    scan.rank = folded.rank == 1 && folded.strides[0] == 1 ? 0 : static_cast<std::uint32_t>(folded.rank);
    repeats = folded.repeats;
    return true;
  }

  static HealthCounts counts_of(const ScanResult& result, const TensorScan& scan, std::uint64_t repeats) noexcept {
    HealthCounts counts{result.neg_inf, result.pos_inf, result.nan, result.negative, result.zero, 0};
    if (scan.parts == 1) counts.positive = scan.count - counts.total();
    counts *= repeats;
    return counts;
  }

  template <class StreamOf>
  void look_at_device(std::uint8_t number, const StreamOf& stream_of) {
    std::vector<Far*> there;
    std::vector<TensorScan> scans;
    std::vector<std::uint64_t> repeats;
    for (Far& far : all_) {
      if (far.looked_at || far.key->far != number) continue;
      far.looked_at = true;
      there.push_back(&far);
      TensorScan& scan = scans.emplace_back();
      std::uint64_t& times = repeats.emplace_back(1);
      if (far.role == Role::output && set_counting(scan, *far.view, *far.key, times))
        far.counts = std::make_unique<HealthCounts>();
      detail::ContentSample::each_place(
          *far.key, [&](std::uintptr_t at, std::size_t bytes) { scan.places[scan.num_places++] = {at, bytes}; });
    }
    std::vector<ScanResult> results(scans.size());
    Device* const device = Device::get(number - 1U);
    if (device == nullptr || !device->scan(stream_of(number - 1U), scans, results)) {
      for (Far* const far : there) {
        far->counts = nullptr;
        *far->key = {};
      }
      return;
    }
    KnownWords* const known = KnownWords::of_thread();
    for (std::size_t i = 0; i < there.size(); ++i) {
      Far& far = *there[i];
      for (std::size_t k = 0; known != nullptr && k < scans[i].num_places; ++k)
        known->add(scans[i].places[k].address, scans[i].places[k].bytes, results[i].words[k]);
      if (far.counts == nullptr) continue;
      *far.counts = counts_of(results[i], scans[i], repeats[i]);
      // Of complex numbers nothing else is recorded than how many are bad.
      if (scans[i].parts == 1 || far.counts->nan == 0) far.view->counted = far.counts.get();
    }
  }

  template <class StreamOf>
  void fetch_one(Far& far, const StreamOf& stream_of) {
    const detail::TensorKey& key = *far.key;
    Device* const device = Device::get(key.far - 1U);
    if (device == nullptr) return;
    far.content.reset(new (std::nothrow) char[key.bytes()]);
    if (far.content != nullptr && device->copy(stream_of(key.far - 1U), far.content.get(), key.begin, key.bytes()))
      far.view->data = far.content.get();
  }

  std::vector<Far> all_;
  std::size_t words_before_ = 0;
};

}  // namespace NANLENS_HIDDEN cuda_host
}  // namespace nanlens::inline NANLENS_ABI
