/// @file
/// What a query asks that no record tells.
#pragma once

#include <nanlens/causes/event.hpp>
#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::query {

/// Who asks says what the analysis and a person think of a row. By default nobody thinks anything.
class Surroundings {
 public:
  Surroundings() = default;
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;
  virtual ~Surroundings() = default;

  /// For made, passed, removed, source, unknown, expected and class:.
  virtual causes::EventClass class_of(causes::EventRef /*row*/) { return causes::EventClass::clean; }
  virtual bool is_pinned(causes::EventRef /*row*/) { return false; }
  /// Beside what a person looks at.
  virtual bool is_input(causes::EventRef /*row*/) { return false; }
  virtual bool is_consumer(causes::EventRef /*row*/) { return false; }
};

}  // namespace nanlens::inline NANLENS_ABI::query
