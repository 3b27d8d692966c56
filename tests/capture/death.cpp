// A program that records on several threads until it dies: `death LOGDIR PROGRESS RING THREADS COUNT WAY [BAD]`.
// Whatever op's recording call has returned is counted in the file PROGRESS, a shared mapping with a number for each
// thread. With BAD, ops have their thread and number as a name, and op number BAD of the first thread gives a NaN.
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nanlens/nanlens.hpp>

namespace {

[[noreturn]] void die(const std::string& way) {
  if (way == "_exit") ::_exit(3);
  if (way == "quick_exit") std::quick_exit(3);
  if (way == "abort") std::abort();
  if (way == "throw") throw 1;
  if (way == "null") *static_cast<volatile int*>(nullptr) = 1;
  const int signal = std::atoi(way.c_str());
  std::signal(signal, SIG_DFL);  // a shell lets its background jobs ignore SIGINT
  ::raise(signal);
  ::_exit(4);  // to return would be std::terminate: main's threads still run
}

void record_named(std::int64_t thread, std::int64_t i, std::int64_t bad) {
  const std::string name = std::to_string(thread) + " " + std::to_string(i);
  nanlens::op({"Named", name}, thread == 0 && i == bad ? NAN : 1.0F);
}

// Op i of a thread has the shape [thread + 1, i + 1].
void record(std::int64_t thread, std::int64_t count, std::int64_t bad, std::atomic_ref<std::int64_t> done,
            std::atomic<bool>& ready) {
  const float one = 1;
  for (std::int64_t i = 0; i < count; ++i) {
    const nanlens::TensorView view{&one, nanlens::DType::float32, {thread + 1, i + 1}, {0, 0}};
    if (bad >= 0) {
      record_named(thread, i, bad);
    } else {
      nanlens::op("Eager", view);
      nanlens::Function f("step");
      f.op("Traced", view);
    }
    done.store(i + 1, std::memory_order_release);
    ready.store(true, std::memory_order_relaxed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7 && argc != 8) return 2;
  const auto threads = static_cast<std::size_t>(std::atoi(argv[4]));
  const std::int64_t count = std::atoll(argv[5]);
  const std::int64_t bad = argc == 8 ? std::atoll(argv[7]) : -1;
  const int fd = ::open(argv[2], O_RDWR);
  void* const memory = ::mmap(nullptr, threads * sizeof(std::int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd < 0 || memory == MAP_FAILED) return 2;
  nanlens::enable_dump_debug_info(
      {.logdir = argv[1],
       .tensor_debug_mode = bad < 0 ? nanlens::TensorDebugMode::shape : nanlens::TensorDebugMode::full_health,
       .circular_buffer_size = std::atoll(argv[3]),
       .stack = nanlens::StackMode::call_site});
  auto* const progress = static_cast<std::int64_t*>(memory);
  std::atomic<bool> ready{false};
  std::vector<std::thread> workers;
  for (std::size_t t = 1; t < threads; ++t)
    workers.emplace_back(record, static_cast<std::int64_t>(t), std::int64_t{1} << 40, bad, std::atomic_ref(progress[t]),
                         std::ref(ready));
  record(0, count, bad, std::atomic_ref(progress[0]), ready);
  die(argv[6]);
}
