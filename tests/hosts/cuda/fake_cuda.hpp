/// @file
/// A GPU for tests: a driver, and PyTorch's current stream, whose device memory no program can read, and whose streams
/// do nothing before somebody waits for them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace fake_cuda {

/// Address of new memory of the device.
std::uintptr_t allocate(std::size_t bytes, std::size_t alignment = 512);
/// Where the device itself reads and writes its memory.
void* inside(std::uintptr_t address);

/// What runs when the stream is waited for, after what came before.
void enqueue(void* stream, std::function<void()> work);
/// Lets all streams do what they have to do.
void synchronise();

/// From now on this thread's ops run on that stream.
void set_current_stream(void* stream);
/// The stream is being captured into a graph, or no longer.
void set_capturing(void* stream, bool capturing);
/// The function of the driver with this name fails from now on; an empty name: none does.
void set_failing(const std::string& name);
/// Kernels launched so far.
std::size_t launches();
/// Contexts that this thread has entered and not left.
std::size_t contexts_entered();

template <class T>
std::uintptr_t put(const std::vector<T>& values, std::size_t alignment = 512) {
  const std::uintptr_t address = allocate(values.size() * sizeof(T), alignment);
  std::copy(values.begin(), values.end(), static_cast<T*>(inside(address)));
  return address;
}

}  // namespace fake_cuda
