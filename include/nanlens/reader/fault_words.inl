// Part of fault.hpp: a fault in words.
#pragma once

namespace nanlens::reader {

NANLENS_API Fault told_fault(std::string words) {
  Fault fault(FaultId::as_told);
  for (std::size_t i = 1; i < num_faults; ++i)
    if (words == english_faults[i]) fault.id = static_cast<FaultId>(i);
  fault.told = std::move(words);
  return fault;
}

NANLENS_API Fault fault_because(FaultId kind, Fault reason) {
  Fault fault(kind);
  fault.reason.push_back(std::move(reason));
  return fault;
}

NANLENS_API std::string words(const Fault& fault, const FaultTexts& texts) {
  const auto add = [&](std::string& out, std::string_view name) {
    if (name == "text") out += fault.told;
    if (name == "reason" && !fault.reason.empty()) out += words(fault.reason.front(), texts);
    for (const FaultValue& value : fault.values) {
      if (name != value.name) continue;
      if (value.bytes == 0) {
        out += value.text;
        continue;
      }
      Fault cut(FaultId::cut_name, {{"n", value.bytes}});
      cut.told = value.text;
      out += words(cut, texts);
    }
  };
  std::string out;
  for (std::string_view text = texts[static_cast<std::size_t>(fault.id)]; !text.empty();) {
    const std::size_t open = text.find('{');
    out += text.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('}', open);
    add(out, text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
  return out;
}

}  // namespace nanlens::reader
