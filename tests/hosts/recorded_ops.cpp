#include "recorded_ops.hpp"

#include "../capture/recorded.hpp"

namespace nanlens::test {

RecordedOps recorded_ops(const std::function<void()>& body) {
  const Recorded run(body);
  RecordedOps found{{}, run->alerts().size()};
  for (std::size_t i = 0; i < run->num_executions(); ++i) {
    const auto execution = run->execution(i);
    found.ops.push_back(
        {execution->event.input_tensor_ids, execution->event.output_tensor_ids, execution->extension.duration_ns});
  }
  return found;
}

}  // namespace nanlens::test
