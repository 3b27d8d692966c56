// LibTorch in C++: what is recorded of its ops, and what is not.
#include <nanlens/hosts/torch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <doctest/doctest.h>
#include <torch/csrc/jit/api/module.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <nanlens/reader/stack.hpp>

#include "../capture/trial.hpp"
#include "../support/finish.hpp"
#include "../support/told_by.hpp"

using namespace nanlens;
using test::answer_of;
using test::Recorded;

namespace {

// Records what the body does with PyTorch.
template <class Body>
Recorded record_torch(const Body& body, StackMode stack = StackMode::call_site) {
  CHECK(nanlens::torch::attach());
  CHECK_FALSE(nanlens::torch::attach());  // ops would be recorded twice
  const struct Detach {
    ~Detach() { nanlens::torch::detach(); }
  } detach;
  return Recorded(body, [&](DumpOptions& options) { options.stack = stack; });
}

// The op types of a run's executions, in order.
std::string ops_of(const Recorded& run) {
  std::string types;
  for (std::size_t i = 0; i < run->num_executions(); ++i) types += run->execution(i)->event.op_type + " ";
  return types;
}

at::Tensor numbers(std::initializer_list<float> values) {
  at::Tensor tensor = at::empty({static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.data_ptr<float>());
  return tensor;
}

// What a torch::nn::Module says of itself; its headers take long to compile.
struct Net {
  at::Tensor weight;
  struct Item {
    [[nodiscard]] const std::string& key() const { return name; }
    [[nodiscard]] const at::Tensor& value() const { return tensor; }
    std::string name;
    at::Tensor tensor;
  };
  [[nodiscard]] std::vector<Item> named_parameters() const { return {{"weight", weight}}; }
  [[nodiscard]] static std::vector<Item> named_buffers() { return {}; }
};

}  // namespace

TEST_CASE("an op that hands out what ops inside it made is not recorded beside them, nor are views") {
  CHECK(ops_of(record_torch([] {
          const at::Tensor x = at::ones({2, 3});
          const at::Tensor w = at::full({4, 3}, 2.0);
          (void)at::linear(x, w, at::zeros({4})).t().reshape({8});
        })) == "aten::ones aten::full aten::zeros aten::addmm aten::clone ");
}

TEST_CASE("an op that is called boxed has nothing to do with what else is on the stack") {
  const Recorded run = record_torch([] {
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::add_", "Tensor");
    at::Tensor x = numbers({1, 2});
    c10::Stack stack{numbers({0, std::nanf("")}), numbers({std::nanf(""), 3}), x, numbers({3, 4}), 1};
    op.callBoxed(&stack);
  });
  REQUIRE(ops_of(run) == "aten::add_ ");
  CHECK(run->execution(0)->event.input_tensor_ids.size() == 2);
  CHECK(run->execution(0)->event.output_tensor_ids.size() == 1);
  CHECK(run->alerts().empty());
}

TEST_CASE("memory that was allocated is no value, and what was there before is forgotten") {
  const Recorded run = record_torch([] {
    at::Tensor x = numbers({std::nanf(""), 1});
    x = x * 2;
    const void* const memory = x.data_ptr();
    x.reset();
    const at::Tensor y = at::empty({2});  // PyTorch's allocator gives the same memory as often as not
    if (y.data_ptr() == memory) y.data_ptr<float>()[1] = 1;
    at::Tensor z = at::empty_like(y);
    z.fill_(1);
  });
  CHECK(ops_of(run) == "aten::mul aten::fill_ ");
}

TEST_CASE("what an op wrote over was looked at before") {
  const Recorded run = record_torch([] {
    at::Tensor x = at::zeros({4});
    x.log_();
    x.add_(1);
  });
  CHECK(ops_of(run) == "aten::zeros aten::log_ aten::add_ ");
  const auto answer = answer_of(run);
  CHECK(answer.op() == "aten::log_");
  CHECK(answer.causes == 1);
  CHECK(answer.says("4 zeros"));
}

TEST_CASE("a bad value is followed through views, and through what is written by a view") {
  const Recorded run = record_torch([] {
    const at::Tensor x = at::arange(6.0F).reshape({2, 3});
    x.t()[0].reciprocal_();
    (void)x.sum();
  });
  CHECK(ops_of(run) == "aten::arange aten::reciprocal_ aten::sum ");
  const auto answer = answer_of(run);
  CHECK(answer.op() == "aten::reciprocal_");
  CHECK(answer.causes == 1);
}

TEST_CASE("data that nothing on record made came in bad") {
  const auto answer = answer_of(record_torch([] { (void)(numbers({1, std::nanf("")}) * 2).sum(); }));
  CHECK(answer.op() == "aten::mul");
  CHECK(answer.event_class == causes::EventClass::source);
}

TEST_CASE("an op that only looks at the shape of a bad tensor has removed nothing") {
  const Recorded run = record_torch([] {
    const at::Tensor x = at::log(at::zeros({2}));
    (void)at::zeros_like(x).sum();
    (void)at::ones_like(x).sum();
  });
  CHECK(ops_of(run) == "aten::zeros aten::log aten::zeros_like aten::sum aten::ones_like aten::sum ");
  CHECK(run->execution(2)->event.input_tensor_ids.empty());
  CHECK(run->execution(4)->event.input_tensor_ids == run->execution(1)->event.output_tensor_ids);
  causes::Causes causes(*run);
  test::finish(causes);
  CHECK(causes.killers().empty());
}

TEST_CASE("an op of the backward pass is named after its node") {
  const Recorded run = record_torch([] {
    at::Tensor x = at::zeros({1});
    x.requires_grad_();
    at::sqrt(x).sum().backward();
  });
  const auto answer = answer_of(run);
  CHECK(answer.op() == "aten::div SqrtBackward0");
}

TEST_CASE("a gradient and the parameter that it was brought into have their names") {
  constexpr float small = 1e-20F;
  constexpr float large = 1e30F;
  const Recorded run = record_torch([] {
    at::Tensor weight = at::full({2, 2}, small);
    weight.requires_grad_();
    nanlens::torch::name(Net{weight}, "net");
    (at::full({3, 2}, large).mm(weight.t()) * (1 / small)).sum().backward();
    const at::NoGradGuard no_gradients;
    weight.add_(weight.grad(), -1);
  });
  const auto answer = answer_of(run);
  CHECK(answer.op() == "aten::mm MmBackward0");
  CHECK(answer.sentence.consequence.starts_with("It is grad of net.weight. aten::add_"));
  CHECK(answer.sentence.consequence.find("brought it into net.weight. All 2 bad") != std::string::npos);
}

TEST_CASE("the line of a C++ program is on the stack") {
  constexpr int line = __LINE__ + 1;
  const Recorded run = record_torch([] { (void)at::log(at::zeros({2})); }, StackMode::unwind);
  const auto last = run->execution(run->num_executions() - 1);
  CHECK(last->event.op_type == "aten::log");
  const auto frame = reader::user_frame(reader::resolve_stack(*run, last->event.code_location));
  REQUIRE(frame);
  CHECK(frame->file_path.ends_with("hosts/torch_test.cpp"));
  CHECK(frame->line == line);
}

TEST_CASE("threads are recorded; kinds of tensors that can't be read are passed over") {
  const Recorded run = record_torch([] {
    std::thread([] { (void)at::rsqrt(at::zeros({3})); }).join();
    (void)at::eye(3).to_sparse().to_dense();
    (void)at::quantize_per_tensor(at::ones({3}), 0.1, 0, at::kQInt8).dequantize();
    (void)(at::ones({3}, at::device(at::kMeta)) * 2);
    (void)at::ones({0, 3}).sum();
    (void)at::ones({2, 3}).expand({4, 2, 3}).sum();
  });
  const auto answer = answer_of(run);
  CHECK(answer.op() == "aten::rsqrt");
  CHECK(answer.causes == 1);
}

TEST_CASE("what an op inside has copied is unseen, until another makes something there") {
  torch_host::NestedResults results{};
  const auto key = [](std::uintptr_t begin, std::uintptr_t end) {
    nanlens::detail::TensorKey k;
    k.begin = begin;
    k.end = end;
    return k;
  };
  results.add_filled(key(0x100, 0x200), 0);
  CHECK(results.touches(key(0x100, 0x110), 0));
  results.add_copied(key(0x100, 0x180), 0);
  CHECK_FALSE(results.touches(key(0x100, 0x110), 0));
  CHECK_FALSE(results.covers(key(0x100, 0x110), 0));
  results.add(key(0x100, 0x180));
  CHECK(results.touches(key(0x100, 0x110), 0));
  CHECK(results.covers(key(0x100, 0x110), 0));
  CHECK_FALSE(results.touches(key(0x100, 0x110), results.count()));
}

TEST_CASE("what torch.compile has compiled is no op, and a word says once that there are none inside") {
  const auto call = [] { RECORD_FUNCTION("Torch-Compiled Region: 0/0", {}); };
  const std::string told = test::told_by([&] {
    const Recorded run = record_torch([&] {
      call();
      call();
    });
    CHECK(run->num_executions() == 0);
  });
  CHECK(told.find("TORCH_COMPILE_DISABLE=1") != std::string::npos);
  CHECK(told.find("TORCH_COMPILE_DISABLE=1") == told.rfind("TORCH_COMPILE_DISABLE=1"));
}

TEST_CASE("what ops do inside of one whose arguments hold other tensors is recorded") {
  const Recorded run = record_torch([] {
    const at::Tensor values = numbers({1, -2, 3});
    (void)at::sparse_coo_tensor(at::arange(3).reshape({1, 3}), values, {3}).log1p();
  });
  CHECK(answer_of(run).op() == "aten::log1p");
  CHECK(run->alerts().size() == 1);
}

TEST_CASE("what an op made of a tensor that can't be read is not said to be its own") {
  const Recorded run = record_torch([] {
    const at::Tensor values = numbers({1, std::numeric_limits<float>::infinity(), 3});
    const at::Tensor held = at::sparse_coo_tensor(at::arange(3).reshape({1, 3}).expand({2, 3}), values, {3, 3});
    (void)at::addmm(at::zeros({3, 2}), held, at::ones({3, 2}));
  });
  CHECK(run->alerts().size() == 1);
  CHECK(answer_of(run).says("Can't tell what made aten::addmm:0"));
}

TEST_CASE("the last 256 results of a thread are known") {
  std::vector<float> memory(1003, 1.0F);
  const nanlens::detail::TensorKey key = nanlens::detail::key_of(view_of(memory));
  torch_host::NestedResults results{};
  CHECK_FALSE(results.covers(key, 0));
  const std::uint64_t begin = results.count();
  results.add(key);
  CHECK(results.covers(key, begin));
  CHECK_FALSE(results.covers(key, results.count()));  // made before the op began that asks
  nanlens::detail::TensorKey part = key;
  part.begin += 4;
  CHECK(results.covers(part, begin));
  part.end += 4;
  CHECK_FALSE(results.covers(part, begin));
  for (int i = 0; i < 256; ++i) results.add({1, 2, 1, 1, true});
  CHECK_FALSE(results.covers(key, begin));  // too long ago
}

TEST_CASE("PyTorch's threads count a large tensor together, where it has several, and not in a fork") {
  const int before = at::get_num_threads();
  std::vector<std::atomic<int>> calls(37);
  const auto piece = [](void* work, std::size_t i) noexcept {
    ++(*static_cast<std::vector<std::atomic<int>>*>(work))[i];
  };
  at::set_num_threads(3);
  const auto ask_again = [] {
    while (!torch_host::Helpfulness::get().worth_while()) {
    }
  };
  ask_again();
  CHECK(torch_host::share_work(calls.size(), piece, &calls));
  torch_host::Helpfulness::get().took(1, 1'000'000'000);
  CHECK_FALSE(torch_host::share_work(calls.size(), piece, &calls));
  ask_again();
  CHECK(std::all_of(calls.begin(), calls.end(), [](const std::atomic<int>& count) { return count == 1; }));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(torch_host::share_work(calls.size(), piece, &calls) ? 1 : 0);
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  const Recorded run = record_torch([] {
    at::Tensor x = at::ones({1024, 1025});
    x[3][4] = std::numeric_limits<float>::quiet_NaN();
    (void)at::neg(x.t());
  });
  const auto last = run->execution(run->num_executions() - 1);
  CHECK(last->event.op_type == "aten::neg");
  CHECK(last->debug_tensor_values[0]->at(7) == 1);                // NaN
  CHECK(last->debug_tensor_values[0]->at(8) == 1024 * 1025 - 1);  // negative
  at::set_num_threads(1);
  CHECK_FALSE(torch_host::share_work(calls.size(), piece, &calls));
  at::set_num_threads(before);
}

TEST_CASE("forward places are found by thread and number, the last of each place") {
  const auto places = std::make_unique<torch_host::ForwardStacks>();
  const std::string module = "net.fc";
  constexpr std::uint32_t no_stack = nanlens::detail::SourcePlace::no_stack;
  CHECK(places->find(1, 5).stack == no_stack);
  places->set(1, 5, {42, &module});
  CHECK(places->find(1, 5).stack == 42);
  CHECK(places->find(1, 5).module == &module);
  CHECK(places->find(2, 5).stack == no_stack);
  CHECK(places->find(2, 5).module == nullptr);
  places->set(1, 5 + 65536, {43, nullptr});
  CHECK(places->find(1, 5).stack == no_stack);
  CHECK(places->find(1, 5 + 65536).stack == 43);
}

TEST_CASE("a named tensor is known by itself, by its views and as the owner of its gradient") {
  torch_host::TensorNames names;
  at::Tensor weight = at::ones({2, 3});
  weight.requires_grad_();
  names.add(*weight.unsafeGetTensorImpl(), "net.weight");
  const auto name_of = [&](const at::Tensor& tensor) {
    return names.find(torch_host::identity_of(*tensor.unsafeGetTensorImpl()));
  };
  CHECK(name_of(weight) == "net.weight");
  CHECK(name_of(weight.t()) == "net.weight");
  CHECK(name_of(at::ones({2, 3})).empty());
  weight.sum().backward();
  CHECK(name_of(weight.grad()) == "grad of net.weight");
  const at::Tensor part = weight.detach()[1];
  names.add(*part.unsafeGetTensorImpl(), "net.row");
  CHECK(name_of(part) == "net.row");
  CHECK(name_of(weight.t()).empty());  // of two names in one memory
  const torch_host::TensorIdentity gone = torch_host::identity_of(*weight.unsafeGetTensorImpl());
  weight.reset();
  CHECK(names.find(gone) == "net.row");  // the memory's other name
}

TEST_CASE("a module's path is told by the interpreter's hierarchy; functions are no modules") {
  const std::string name = "model.net";
  const std::string path = "model.net/mean";
  const auto names = [](const std::vector<std::string>& hierarchy, const torch_host::ScriptRoot& root) {
    const torch_host::ScriptNames found = torch_host::script_names(hierarchy, root);
    return found.module + " " + found.path;
  };
  CHECK(names({"TOP(Net)::forward", "sub(Sub)::forward", "fc(Linear)::forward"}, {}) == "Net.sub.fc Net/sub/fc");
  CHECK(names({"TOP(Net)::forward", "sub(Sub)::forward", "::helper"}, {&name, &name}) ==
        "model.net.sub model/net/sub/helper");
  CHECK(names({"TOP()::mean", "::ratio"}, {&name, &path}) == "model.net model/net/mean/ratio");
  CHECK(names({"TOP()::<forward op>", "sub(Sub)::forward"}, {nullptr, &path}) == "sub model/net/mean/sub");
  CHECK(names({}, {&name, &name}) == " ");
}

namespace {

::torch::jit::Module scripted_net() {
  ::torch::jit::Module rest("__torch__.Rest");
  rest.register_parameter("weight", at::ones({2}), false);
  rest.define("def forward(self, x):\n  return torch.log(x * self.weight)\n");
  ::torch::jit::Module net("__torch__.Net");
  net.register_module("rest", rest);
  net.define("def forward(self, x):\n  for i in range(2):\n    x = self.rest.forward(x)\n  return x + 1\n");
  return net;
}

// The ops of the rows in graphs.
std::string rows_of(const Recorded& run) {
  std::string rows;
  for (std::size_t i = 0; i < run->num_traces(); ++i) rows += run->trace(i)->event.op_name + " ";
  return rows;
}

std::string inputs_of(const Recorded& run, const std::string& op) {
  const auto row = run->trace(0);
  const auto creation = run->op(run->find_op(row->event.tfdbg_context_id, op));
  std::string names;
  for (const std::string& name : creation->event.input_names) names += name + " ";
  return names;
}

}  // namespace

TEST_CASE("a call of TorchScript is one execution of a graph, whose ops know what feeds them") {
  const Recorded run = record_torch([] {
    ::torch::jit::Module net = scripted_net();
    for (int i = 0; i < 3; ++i) {
      const at::Tensor y = net.forward({at::full({2}, 2.0)}).toTensor();
      if (i == 2) (void)y.sum();
    }
  });
  CHECK(ops_of(run) ==
        "aten::ones aten::full __inference_Net.forward_1 aten::full __inference_Net.forward_1 aten::full "
        "__inference_Net.forward_1 aten::sum ");
  const std::string one = "Net/rest/mul Net/rest/log Net/rest/mul_1 Net/rest/log_1 Net/add ";
  CHECK(rows_of(run) == one + one + one);
  CHECK(inputs_of(run, "Net/rest/mul") == "x:0 Net.rest.weight/input_1:0 ");
  CHECK(inputs_of(run, "Net/rest/mul_1") == "Net/rest/log:0 Net.rest.weight/input_1_1:0 ");
  const auto call = run->execution(6);
  CHECK(call->event.input_tensor_ids == run->execution(5)->event.output_tensor_ids);
  CHECK(call->event.output_tensor_ids == run->execution(7)->event.input_tensor_ids);
}

TEST_CASE("a bad weight is followed into a call of TorchScript, and what the call makes of it out of that") {
  const Recorded run = record_torch([] {
    ::torch::jit::Module net = scripted_net();
    at::log_(net.attr("rest").toModule().attr("weight").toTensor().sub_(1));
    (void)net.forward({at::full({2}, 2.0)}).toTensor().sum();
  });
  const auto answer = answer_of(run);
  CHECK(answer.op() == "aten::log_");
  CHECK(answer.causes == 1);
}

TEST_CASE("a call of TorchScript that an exception leaves has rows and no execution") {
  const Recorded run = record_torch([] {
    ::torch::jit::Module net("__torch__.Net");
    net.define("def forward(self, x):\n  y = x - 1\n  assert bool(y.sum() > 100)\n  return y\n");
    CHECK_THROWS((void)net.forward({at::ones({2})}));
    (void)at::ones({3}).sum();
  });
  CHECK(ops_of(run) == "aten::ones aten::ones aten::sum ");
  CHECK(rows_of(run) == "Net/sub Net/sum ");
}

TEST_CASE("a module of TorchScript that has run goes with its program's last reference, and its tensors too") {
  const auto is_gone = std::make_shared<bool>(false);
  const Recorded run = record_torch([&] {
    static std::array<float, 2> memory{1, 2};
    ::torch::jit::Module net("__torch__.Net");
    net.register_parameter("weight", at::from_blob(memory.data(), {2}, [is_gone](void*) { *is_gone = true; }), false);
    net.define("def forward(self, x):\n  return x * self.weight\n");
    (void)net.forward({at::ones({2})});
  });
  CHECK(*is_gone);
}

TEST_CASE("what threads do in one module of TorchScript at the same time are calls of their own") {
  const Recorded run = record_torch([] {
    ::torch::jit::Module net = scripted_net();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&net] {
        for (int k = 0; k < 20; ++k) (void)net.forward({at::full({2}, 2.0)}).toTensor().sum();
      });
    for (std::thread& thread : threads) thread.join();
  });
  std::size_t calls = 0;
  for (std::size_t i = 0; i < run->num_executions(); ++i) {
    const auto execution = run->execution(i);
    if (execution->event.graph_id.empty()) continue;
    ++calls;
    CHECK(execution->event.input_tensor_ids.size() == 1);
    CHECK(execution->event.output_tensor_ids.size() == 1);
  }
  CHECK(calls == 80);
  CHECK(run->num_traces() >= 80 * 5);
}
