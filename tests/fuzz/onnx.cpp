// Probes for a model of any bytes: what comes out is a model again, with a description that can be read.
#include <cstdlib>

#include <nanlens/hosts/onnx/instrument.hpp>

#include "records.hpp"

namespace {

using namespace nanlens;
using namespace nanlens::onnx_host;

void require(bool holds) {
  if (!holds) std::abort();
}

// The description in the attribute of the node that begins a run.
void read_description(Bytes bytes, bool& found) {
  for (WireReader node(bytes); node.next();) {
    if (!node.is(tags::NodeProto::attribute, WireType::length_delimited)) continue;
    for (WireReader attribute(node.bytes()); attribute.next();) {
      Description description;
      if (!attribute.is(tags::AttributeProto::s, WireType::length_delimited)) continue;
      require(decode(attribute.bytes(), description));
      const std::string again = encoded(description);
      require(attribute.text() == again);
      found = true;
    }
  }
}

void check(const std::string& bytes) {
  Model model;
  Graph graph;
  bool found = false;
  require(read_model({fuzz::bytes_of(bytes), bytes.size()}, model));
  for (const Bytes part : model.graphs) require(read_graph(part, graph));
  for (const Node& node : graph.nodes)
    if (node.domain == probe_domain && node.type == "Begin") read_description(node.bytes, found);
  require(found);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const Instrumented probed = add_probes({data, size}, "fuzzed");
  require(probed.model.empty() != probed.why_not.empty());
  if (!probed.model.empty()) check(probed.model);
  return 0;
}
