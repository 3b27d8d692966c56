// Part of wording.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <nanlens/causes/because.hpp>
#include <nanlens/causes/sentence_table.hpp>

namespace nanlens::causes {

namespace detail {

// Can a text with its names filled in be this one?
inline bool is_filled(std::string_view filled, std::string_view text) {
  for (bool first = true;; first = false) {
    const std::size_t open = text.find('{');
    const std::string_view literal = text.substr(0, open);
    if (open == std::string_view::npos) return first ? filled == literal : filled.ends_with(literal);
    const std::size_t at = filled.find(literal);
    if (at == std::string_view::npos || (first && at > 0)) return false;
    filled.remove_prefix(at + literal.size());
    text.remove_prefix(text.find('}') + 1);
  }
}

// Is this one of the words that nanlens made up for what has no name?
inline bool is_made_up(std::string_view name, const Speech& speech) {
  for (const Saying id : {Saying::an_input, Saying::its_input, Saying::input_numbered, Saying::output_of,
                          Saying::result_of, Saying::part_of_rank, Saying::send_buffer})
    if (is_filled(name, speech[id])) return true;
  return false;
}

// Words that nanlens made up, not names of the program, begin a sentence with a capital.
inline std::string capital(std::string text, const Speech& speech) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z' && is_made_up(text, speech))
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

/// What has a larger range, to end a remedy; empty where nothing has.
inline std::string_view wider_words(DType dtype, const Speech& speech) noexcept {
  if (dtype == DType::float16) return speech[Saying::wider_float16];
  if (dtype == DType::float32 || dtype == DType::bfloat16) return speech[Saying::wider_float32];
  return is_floating(dtype) && dtype != DType::float64 ? speech[Saying::wider_other] : "";
}

inline void word_output(const CauseFacts& f, const Speech& speech, Arguments& a) {
  const TensorHealth& out = f.out;
  const auto count = [&](const char* name, double n) {
    if (is_count(n)) a[name] = grouped(n, speech);
  };
  const double bad = out.num_nan + out.num_neg_inf + out.num_pos_inf;
  const bool counted = out.num_nan >= 0 && out.num_neg_inf >= 0 && out.num_pos_inf >= 0;
  count("size", out.size);
  if (counted && bad <= out.size) {
    count("nan", out.num_nan);
    count("ninf", out.num_neg_inf);
    count("pinf", out.num_pos_inf);
    count("bad", bad);
    if (is_count(bad) && out.size > 1)
      a["in_bad"] = say(speech, Saying::in_bad, {{"bad", grouped(bad, speech)}, {"size", grouped(out.size, speech)}});
  }
  a["kinds"] = kinds_words(f.kinds_known ? f.kinds : Kinds{0}, speech);
  const bool infinite = f.kinds_known && f.kinds != 0 && (f.kinds & reader::nan_flag) == 0;
  if (infinite && f.id == "zero_times") a["mask"] = a["kinds"];
  if (infinite && !f.nan_follows)
    a[f.unread ? "unread_mask" : f.code == OpCode::constant ? "mask" : "came_mask"] = a["kinds"];
  const double max = dtype_max(out.dtype);
  a["tiny"] = max > 0 && max < 1e5 ? "1e-4" : "1e-7";  // 1/x is to be finite
  if (max <= 0) return;
  a["dtype"] = std::string(dtype_name(out.dtype));
  a["wider"] = std::string(wider_words(out.dtype, speech));
  a["max"] = short_number(max, speech);
  if (f.all_clean) a["range"] = a["dtype"] + " (" + a["max"] + ")";
  if (const InputFacts* const largest = large_input(f, 0)) a["reach"] = about(largest->largest, speech);
  if (f.code == OpCode::exp && exp_limit(out.dtype) > 0) a["limit"] = short_number(exp_limit(out.dtype), speech);
}

// Zeros and negative values that account for the output exactly, element by element.
inline void word_exact(const CauseFacts& f, const Speech& speech, Arguments& a) {
  const InputFacts& in = f.inputs.front();
  const bool same_size = in.known && f.out.size == in.health.size;
  if (!same_size || f.contradicted) return;
  const double infinities = f.code == OpCode::rsqrt ? f.out.num_neg_inf + f.out.num_pos_inf : f.out.num_neg_inf;
  if (infinities > 0 && infinities == in.health.num_zero) a["exact_zeros"] = zeros_words(in.health, speech);
  if (f.out.num_nan > 0 && f.out.num_nan == in.health.num_negative)
    a["exact_negatives"] = negatives_words(in.health, speech);
}

// " from clean input probs", and the like for the names that nanlens gives to what has none; behind an English article
// " from its clean input".
inline std::string clean_words(std::string_view name, const Speech& speech) {
  if (!is_made_up(name, speech)) return say(speech, Saying::from_clean_input, {{"name", std::string(name)}});
  for (const std::string_view start : {"its ", "the "})
    if (name.starts_with(start))
      return say(speech, Saying::from,
                 {{"name", std::string(start) + "clean " + std::string(name.substr(start.size()))}});
  return say(speech, Saying::from_clean_part, {{"name", std::string(name)}});
}

// To a power, negative values become no infinity by being negative, and zeros no NaN.
inline void leave_out_harmless(const CauseFacts& f, Arguments& a) {
  if (f.code != OpCode::pow || !f.kinds_known) return;
  if ((f.kinds & reader::nan_flag) == 0) a["in_negatives"].clear();
  if (f.kinds == reader::nan_flag) a["in_zeros"].clear();
}

// What a quotient is beyond the range for, without a zero.
inline void word_small_divisor(const InputFacts& divisor, const Speech& speech, Arguments& a) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const double value : divisor.at_bad) smallest = std::min(smallest, std::fabs(value));
  if (smallest > 0 && smallest < 1) a["den_small"] = about(smallest, speech);
}

inline void word_inputs(const CauseFacts& f, const Speech& speech, Arguments& a) {
  a["in"] = f.inputs.empty() ? say(speech, Saying::its_input) : name_of(f.inputs.front(), speech);
  if (f.all_clean && !f.inputs.empty())
    a["from"] = f.inputs.size() > 1 ? say(speech, Saying::from_clean_inputs) : clean_words(a["in"], speech);
  else if (f.inputs.size() == 1)
    a["from"] = say(speech, Saying::from, {{"name", a["in"]}});
  if (f.inputs.empty()) return;
  word_exact(f, speech, a);
  const std::size_t first = dividend_of(f.code);
  const auto describe = [&](const InputFacts& input, const std::string& prefix) {
    a[prefix] = name_of(input, speech);
    if (!input.known) return;
    a[prefix + "_zeros"] = zeros_words(input.health, speech);
    a[prefix + "_negatives"] = negatives_words(input.health, speech);
    if (is_count(input.health.size)) a[prefix + "_size"] = grouped(input.health.size, speech);
  };
  if (first < f.inputs.size()) describe(f.inputs[first], "in");
  leave_out_harmless(f, a);
  const std::size_t divisor = divisor_of(f.code);
  if (divisor >= f.inputs.size()) return;
  describe(f.inputs[divisor], "den");
  if (f.code == OpCode::divide || f.code == OpCode::reciprocal) word_small_divisor(f.inputs[divisor], speech, a);
  if (divisor == first + 1 && f.by_itself) a["itself"] = a["in"];
}

// What an op that only adds and multiplies can give at most, of numbers that reach no further than these; infinity
// where that is not known, as of an input and a number, or of the two halves of an input. A factor that is no input, as
// BLAS has one, is taken to be no larger than a million.
inline double most_of_sums(const CauseFacts& f) {
  constexpr double unknown_factor = 1e6;
  const bool of_one = f.code == OpCode::square || f.code == OpCode::reduce_sum || f.code == OpCode::mean ||
                      f.code == OpCode::cumulative_sum || f.code == OpCode::add_n;
  if (f.inputs.size() < (of_one ? 1 : 2)) return std::numeric_limits<double>::infinity();
  double most = unknown_factor * static_cast<double>(f.inputs.size());
  double terms = 1;
  for (const InputFacts& input : f.inputs) {
    if (!input.known || input.largest < 0 || input.health.size < 0) return std::numeric_limits<double>::infinity();
    most *= std::max(1.0, input.largest);
    terms = std::max(terms, input.health.size);
  }
  return f.code == OpCode::square ? most * most : most * terms;
}

// Does it add up squares, or exponentials?
inline bool has_powers_inside(std::string_view op) {
  const auto has = [op](std::string_view part) { return op.find(part) != std::string_view::npos; };
  return has("norm") || op == "EuclideanNorm" || op == "L2Loss" || op == "ReduceL2" || op == "ReduceSumSquare" ||
         has("LpPool") || has("ogSumExp") || has("logsumexp") || has("ttention") || has("ATTN");
}

// Is it an overflow that its inputs can't give?
inline bool is_out_of_reach(const CauseFacts& f) {
  const bool only_adds_and_multiplies =
      only_overflows(f.code) || (sums(f.code) && f.code != OpCode::product && !has_powers_inside(f.op));
  return f.id == "overflow" && f.all_clean && only_adds_and_multiplies && most_of_sums(f) < dtype_max(f.out.dtype);
}

inline void word_domain(const CauseFacts& f, const Speech& speech, Arguments& a) {
  if (f.code != OpCode::inverse_trigonometric && f.code != OpCode::open_domain) return;
  a["domain"] = std::string(domain_words(f.op));
  const bool symmetric = a["domain"].starts_with("−");
  const double largest = f.inputs.empty() ? -1 : f.inputs.front().largest;
  if (!symmetric || !(largest > 1) || std::isinf(largest)) return;
  constexpr double rounding = 1e-3;
  a[largest < 1 + rounding ? "slightly_beyond" : "magnitude"] = short_number(largest, speech);
}

// An input that was bad before the op began.
inline void word_arrived(const CauseFacts& f, const Speech& speech, Arguments& a) {
  const TensorHealth& h = f.arrived.health;
  // Of a complex tensor it is not known whether its parts are NaN or infinite.
  const bool known = dtype_kind(h.dtype) != DTypeKind::complex;
  const auto told = static_cast<Kinds>(known ? h.flags & reader::bad_flags : 0);
  const int kinds = std::popcount(told);
  const double bad = h.num_nan + h.num_neg_inf + h.num_pos_inf;
  a["arrived"] = f.arrived.name.empty() ? say(speech, Saying::an_input) : f.arrived.name;
  a["arrived_kinds"] =
      say(speech, kinds <= 1 ? Saying::arrived_one : Saying::arrived_more, {{"kinds", kinds_words(told, speech)}});
  if (is_count(bad) && h.size > 1 && bad <= h.size)
    a["arrived_bad"] =
        say(speech, Saying::arrived_bad, {{"bad", grouped(bad, speech)}, {"size", grouped(h.size, speech)}});
  a["recorded_there"] = f.recorded_there;
  if (f.id == "zero_times" && told != 0) a["mask"] = kinds_words(told, speech);
}

// The op to blame, and where.
inline void word_op(const CauseFacts& f, const Speech& speech, Arguments& a) {
  a["op"] = f.op.empty()        ? say(speech, Saying::an_op)
            : f.op_name.empty() ? f.op
                                : say(speech, Saying::op_named, {{"op", f.op}, {"name", f.op_name}});
  a["named"] = f.op_name.empty() ? "" : say(speech, Saying::named, {{"op", a["op"]}});
  if (fills_in(f.code, f.op)) a["filler"] = a["op"];
  const Saying at = f.gradient_of.empty() ? Saying::at : Saying::at_gradient;
  a["at"] = (f.place.empty() ? "" : say(speech, at, {{"place", f.place}, {"forward", f.gradient_of}})) + f.where;
  a["src"] = f.place.empty() ? say(speech, Saying::no_place) : f.place;
  a["t"] = f.tensor.empty() ? say(speech, Saying::a_tensor) : f.tensor;
  a["call"] = f.call.empty() ? a["op"] : f.call;
}

inline void word_rest(const CauseFacts& f, const Speech& speech, Arguments& a) {
  word_op(f, speech, a);
  a[f.masked ? "giver" : "origin"] = f.origin;
  a["inside"] = f.inside;
  a["guard"] = f.guard;
  a["integers"] = f.integers;
  a["missing"] = f.missing;
  a["Missing"] = capital(f.missing, speech);
  a["incoming"] = capital(!f.missing.empty() ? f.missing : f.name.empty() ? a["t"] : f.name, speech);
  a["lay_there"] = f.lay_there;
  a["why"] = std::string(reason_words(f.reason, f.native, speech));
  if (!f.written_at.empty())
    a["why"] = say(speech, f.reason == Reason::updated ? Saying::reason_updated_at : Saying::reason_assigned_at,
                   {{"op", f.written_by}, {"place", f.written_at}});
  if (f.code == OpCode::sqrt_grad || f.code == OpCode::reciprocal_grad)
    a["function"] = std::string(function_of_gradient(f.op));
  a["because"] = because(f, speech);
  if (f.id != "opaque" || !f.inside_input.known) return;
  a["in"] = f.inside_input.name;
  a["inside_found"] =
      f.inside_negatives ? negatives_words(f.inside_input.health, speech) : zeros_words(f.inside_input.health, speech);
}

// An instruction that raised an exception: its op's own name says which.
inline void word_trap(const CauseFacts& f, const Speech& speech, Arguments& a) {
  if (f.hits == 0) return;
  a["trap"] = f.op_name.empty() ? f.op : f.op_name;
  const std::string times = counted(speech, Saying::times, static_cast<double>(f.hits));
  a["times"] = f.hits_are_all ? times : say(speech, Saying::at_least, {{"times", times}});
  if (!f.function.empty()) a["in_function"] = say(speech, Saying::in_function, {{"function", f.function}});
  const double bad = f.out.num_nan + f.out.num_neg_inf + f.out.num_pos_inf;
  if (is_count(bad) && f.out.size > 1)
    a["bad_lanes"] =
        say(speech, Saying::bad_lanes, {{"bad", grouped(bad, speech)}, {"size", grouped(f.out.size, speech)}});
  char since[32];
  std::snprintf(since, sizeof since, f.since_start < 10 ? "%.1f" : "%.0f", f.since_start);
  a["since"] = with_point(since, speech);
}

constexpr bool is_softmax(OpCode code) noexcept { return code == OpCode::softmax || code == OpCode::log_softmax; }

// Which wordings tell a sentence of this id.
inline std::string_view wording_key(const CauseFacts& f) {
  if (f.id == "guarded") return f.id;
  if (f.contradicted && f.event_class == EventClass::producer && f.id != "opaque") {
    if (f.all_seen && is_softmax(f.code)) return "made";  // one written without care does that
    return f.all_seen ? "contradicted_seen" : "contradicted";
  }
  if (f.code == OpCode::log1p) return "made";
  if (is_out_of_reach(f)) return "narrow";
  if (f.id == "log0" || f.id == "logneg") return "log";
  if (f.code == OpCode::rsqrt) return "rsqrt";
  if (f.id == "sqrtneg") return "root";
  if (f.id == "sqrtgrad0") return "gradient";
  if (f.code == OpCode::modulo || f.id == "div0") return "division";
  if (f.id == "div00") return "zero_by_zero";
  if (f.id == "unknown" && f.alone) return "unknown_alone";
  if (f.id == "unknown" && f.lost_there) return "unknown_lost";
  if (f.id == "unknown" && f.reason == Reason::lost && !f.missing.empty()) return "unknown_gone";
  return f.id;
}

// Mostly of a program in Python, which wraps no op itself.
inline bool is_of_pytorch(const CauseFacts& f) { return f.op.starts_with("aten::"); }

// "SqrtBackward0 of net": of a gradient that PyTorch has, unlike "OwnBackward", which a program itself has written.
inline bool is_node_of_pytorch(std::string_view name) {
  constexpr std::string_view backward = "Backward";
  const std::size_t at = name.find(backward);
  const std::size_t behind = at + backward.size();
  return at != name.npos && behind < name.size() && name[behind] >= '0' && name[behind] <= '9';
}

inline std::string_view remedy_key(const CauseFacts& f, std::string_view key) {
  const bool torch = is_of_pytorch(f);
  if (key == "guarded" || key == "contradicted_seen") return key;
  if (key == "contradicted") return f.native ? "contradicted_native" : "contradicted";
  if (key == "data" && f.reason == Reason::assigned) return "assigned";
  if (key == "data" && (f.reason == Reason::updated || f.reason == Reason::vectorized)) return "made";
  if (key == "const" && f.kinds_known && (f.kinds & reader::nan_flag) != 0)
    return fills_in(f.code, f.op) ? "filled_nan" : "const_nan";
  if (key == "const" && f.ends_in_result) return "into_result";
  if (torch && key == "arrived") return "arrived_torch";
  if (torch && key == "changed") return "changed_torch";
  if (f.code == OpCode::log1p) return "log1p";
  if (f.id == "logneg") return "logneg";
  const bool divides = key == "division" || key == "zero_by_zero";
  if (divides && torch && is_node_of_pytorch(f.op_name)) return "division_gradient";
  if (divides) return f.native || f.code == OpCode::modulo ? "division_native" : "division";
  if (is_power_overflow(f)) return "overflow";
  if ((key == "made" || key == "generic") && is_softmax(f.code)) return "softmax";
  if ((key == "made" || key == "generic") && has_single_values(f)) return "single_values";
  if (key == "opaque") return f.native ? "opaque_native" : "opaque";
  if (key == "unknown_gone") return "unknown_lost";
  if (key != "unknown") return key;
  if (f.reason == Reason::other_rank) return "unknown_rank";
  if (f.reason == Reason::unread) return "unknown_unread";
  if (f.reason == Reason::written_over) return torch ? "made" : "unknown_written_over";
  if (!f.lay_there.empty()) return "unknown_there";
  if (f.native) return torch ? "unknown_torch" : "unknown_native";
  switch (f.reason) {
    case Reason::eager: return "unknown_eager";
    case Reason::before:
    case Reason::not_recorded: return "unknown_lost";
    case Reason::filtered: return "unknown_filtered";
    case Reason::variable: return "unknown_variable";
    default: return f.mode == TensorDebugMode::full_health ? "unknown_full" : "unknown";
  }
}

}  // namespace detail

NANLENS_API Words word(const CauseFacts& f, const Speech& speech) {
  Words w;
  detail::word_output(f, speech, w.arguments);
  detail::word_inputs(f, speech, w.arguments);
  detail::word_domain(f, speech, w.arguments);
  if (f.arrived.known) detail::word_arrived(f, speech, w.arguments);
  detail::word_rest(f, speech, w.arguments);
  detail::word_trap(f, speech, w.arguments);
  const std::string_view key = detail::wording_key(f);
  w.text = detail::worded(wordings, key, w.arguments, speech);
  if (w.text.empty()) w.text = detail::worded(wordings, "made", w.arguments, speech);
  w.remedy = detail::worded(remedies, detail::remedy_key(f, key), w.arguments, speech);
  if (w.remedy.empty()) w.remedy = detail::worded(remedies, "made", w.arguments, speech);
  if (!f.kinds_known && !f.complex && f.event_class == EventClass::producer && !w.arguments["because"].empty())
    w.remedy += speech[Saying::remedy_full_health];
  if (f.written_over && !detail::is_of_pytorch(f)) w.remedy += detail::worded(remedies, "scope", w.arguments, speech);
  const std::string_view doubt = confidence_words(f.confidence);
  if (!doubt.empty() && f.id != "unknown" && key != "contradicted")
    w.text = say(speech, doubt == "probably" ? Saying::probably : Saying::perhaps, {{"text", w.text}});
  w.text = say(speech, Saying::full_stop, {{"text", w.text}});
  std::erase_if(w.arguments, [](const auto& argument) { return argument.second.empty(); });
  return w;
}

}  // namespace nanlens::causes
