/// @file
/// What the analysis knows of op types: TensorFlow's names, and those that other hosts use for the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace nanlens::causes {

/// Ops with the same numerics share a code.
enum class OpCode : std::uint8_t {
  other,
  // numerics
  log,
  log1p,
  sqrt,
  rsqrt,
  reciprocal,
  divide,
  add_quotient,  // of its last two inputs, to the first
  modulo,
  div_no_nan,
  mul_no_nan,
  xlogy,
  exp,
  sinh,
  pow,
  square,
  multiply,
  add,
  subtract,
  add_n,
  reduce_sum,
  mean,
  deviation,
  cumulative_sum,
  matmul,
  product,
  maximum_of,
  minimum_of,
  softmax,
  log_softmax,
  cross_entropy,
  sparse_cross_entropy,
  ctc_loss,
  nll_loss,  // the second output of the forward op is the weight of all targets together
  bounded,
  relu,
  unbounded_smooth,
  cast,
  inverse_trigonometric,
  open_domain,  ///< infinite, or not a number, at the ends of its domain and beyond
  sqrt_grad,
  reciprocal_grad,
  from_complex,  ///< real numbers of complex ones
  matrix,
  batch_norm,
  layer_norm,  // by statistics of its own input, not given ones
  maximum,
  minimum,
  select,
  clamp,
  nan_to_num,
  negate,
  keep,
  split,
  // sources
  constant,
  uninitialised,
  iterator_get,
  python,      ///< runs code that is not on record
  collective,  // its result depends on the inputs of its siblings on other devices
  // relays and boundaries
  identity,
  identity_n,
  placeholder,
  read_variable,
  assign,
  apply,
  variable_handle,
  branch,
  loop,
  call,
  function_return,
  list_from,
  list_set,
  list_get,
  container_get,
  v1_flow,
  not_float,
};

namespace detail {

struct OpName {
  std::string_view name;  // lower case, without '_' and version
  OpCode code;
};

// Sorted by name: looked up by halving.
inline constexpr OpName op_names[] = {
    {"abs", OpCode::keep},
    {"acos", OpCode::inverse_trigonometric},
    {"acosh", OpCode::inverse_trigonometric},
    {"add", OpCode::add},
    {"addn", OpCode::add_n},
    {"angle", OpCode::from_complex},
    {"argmax", OpCode::not_float},
    {"argmin", OpCode::not_float},
    {"asin", OpCode::inverse_trigonometric},
    {"assign", OpCode::assign},
    {"assignaddvariableop", OpCode::apply},
    {"assignsubvariableop", OpCode::apply},
    {"assignvariableop", OpCode::assign},
    {"atan", OpCode::bounded},
    {"atan2", OpCode::bounded},
    {"atanh", OpCode::open_domain},
    {"attention", OpCode::matmul},
    {"averagepool", OpCode::mean},
    {"batchmatmul", OpCode::matmul},
    {"batchmatrixinverse", OpCode::matrix},
    {"batchnormalization", OpCode::batch_norm},
    {"besselk0", OpCode::open_domain},
    {"besselk0e", OpCode::open_domain},
    {"bessely0", OpCode::open_domain},
    {"biasadd", OpCode::add},
    {"biasaddgrad", OpCode::reduce_sum},
    {"biasgelu", OpCode::unbounded_smooth},
    {"broadcastgradientargs", OpCode::not_float},
    {"broadcastto", OpCode::keep},
    {"case", OpCode::branch},
    {"cast", OpCode::cast},
    {"castlike", OpCode::cast},
    {"causalconvwithstate", OpCode::matmul},
    {"ceil", OpCode::keep},
    {"celu", OpCode::relu},
    {"cholesky", OpCode::matrix},
    {"clamp", OpCode::clamp},
    {"clampmax", OpCode::clamp},
    {"clampmin", OpCode::clamp},
    {"clip", OpCode::clamp},
    {"clipbyvalue", OpCode::clamp},
    {"collectivegather", OpCode::collective},
    {"collectivereduce", OpCode::collective},
    {"collectivereducescatter", OpCode::collective},
    {"complexabs", OpCode::from_complex},
    {"concat", OpCode::keep},
    {"concatfromsequence", OpCode::keep},
    {"const", OpCode::constant},
    {"constant", OpCode::constant},
    {"constantofshape", OpCode::constant},
    {"conv", OpCode::matmul},
    {"conv2d", OpCode::matmul},
    {"conv2dbackpropfilter", OpCode::matmul},
    {"conv2dbackpropinput", OpCode::matmul},
    {"conv3d", OpCode::matmul},
    {"convtranspose", OpCode::matmul},
    {"cosh", OpCode::sinh},
    {"cross", OpCode::matmul},
    {"cumprod", OpCode::product},
    {"cumsum", OpCode::cumulative_sum},
    {"deepcopy", OpCode::identity},
    {"deformconv", OpCode::matmul},
    {"depthwiseconv2dnative", OpCode::matmul},
    {"det", OpCode::product},
    {"dft", OpCode::matmul},
    {"div", OpCode::divide},
    {"divide", OpCode::divide},
    {"divnonan", OpCode::div_no_nan},
    {"dropout", OpCode::keep},
    {"dynamicstitch", OpCode::keep},
    {"eagerpyfunc", OpCode::python},
    {"einsum", OpCode::matmul},
    {"elu", OpCode::relu},
    {"elugrad", OpCode::multiply},
    {"empty", OpCode::uninitialised},
    {"ensureshape", OpCode::keep},
    {"equal", OpCode::not_float},
    {"erf", OpCode::bounded},
    {"erfc", OpCode::bounded},
    {"erfinv", OpCode::open_domain},
    {"euclideannorm", OpCode::reduce_sum},
    {"exp", OpCode::exp},
    {"expand", OpCode::keep},
    {"expanddims", OpCode::keep},
    {"expm1", OpCode::exp},
    {"fastgelu", OpCode::unbounded_smooth},
    {"fft", OpCode::matmul},
    {"fft2d", OpCode::matmul},
    {"fft3d", OpCode::matmul},
    {"fill", OpCode::keep},
    {"flatten", OpCode::keep},
    {"floor", OpCode::keep},
    {"floordiv", OpCode::divide},
    {"floormod", OpCode::modulo},
    {"fusedbatchnorm", OpCode::batch_norm},
    {"fusedbatchnormex", OpCode::batch_norm},
    {"fusedconv", OpCode::matmul},
    {"fusedgemm", OpCode::matmul},
    {"fusedmatmul", OpCode::matmul},
    {"gather", OpCode::keep},
    {"gatherelements", OpCode::keep},
    {"gathernd", OpCode::keep},
    {"gelu", OpCode::unbounded_smooth},
    {"gemm", OpCode::matmul},
    {"globalaveragepool", OpCode::mean},
    {"globallppool", OpCode::reduce_sum},
    {"globalmaxpool", OpCode::keep},
    {"greater", OpCode::not_float},
    {"greaterequal", OpCode::not_float},
    {"groupnormalization", OpCode::layer_norm},
    {"groupqueryattention", OpCode::matmul},
    {"hardsigmoid", OpCode::bounded},
    {"identity", OpCode::identity},
    {"identityn", OpCode::identity_n},
    {"if", OpCode::branch},
    {"ifft", OpCode::matmul},
    {"ifft2d", OpCode::matmul},
    {"ifft3d", OpCode::matmul},
    {"imag", OpCode::from_complex},
    {"instancenormalization", OpCode::layer_norm},
    {"inv", OpCode::reciprocal},
    {"invgrad", OpCode::reciprocal_grad},
    {"irfft", OpCode::from_complex},
    {"irfft2d", OpCode::from_complex},
    {"irfft3d", OpCode::from_complex},
    {"isfinite", OpCode::not_float},
    {"isinf", OpCode::not_float},
    {"isnan", OpCode::not_float},
    {"iteratorgetnext", OpCode::iterator_get},
    {"l2loss", OpCode::reduce_sum},
    {"layernorm", OpCode::layer_norm},
    {"layernormalization", OpCode::layer_norm},
    {"leakyrelu", OpCode::relu},
    {"leakyrelugrad", OpCode::keep},
    {"less", OpCode::not_float},
    {"lessequal", OpCode::not_float},
    {"linearattention", OpCode::matmul},
    {"log", OpCode::log},
    {"log10", OpCode::log},
    {"log1p", OpCode::log1p},
    {"log2", OpCode::log},
    {"logicaland", OpCode::not_float},
    {"logicalnot", OpCode::not_float},
    {"logicalor", OpCode::not_float},
    {"logmatrixdeterminant", OpCode::matrix},
    {"logsoftmax", OpCode::log_softmax},
    {"logsumexp", OpCode::add_n},
    {"lppool", OpCode::reduce_sum},
    {"lrn", OpCode::layer_norm},
    {"matmul", OpCode::matmul},
    {"matrixbandpart", OpCode::keep},
    {"matrixdeterminant", OpCode::product},
    {"matrixdiag", OpCode::keep},
    {"matrixdiagpart", OpCode::keep},
    {"matrixinverse", OpCode::matrix},
    {"matrixsetdiag", OpCode::keep},
    {"matrixsolve", OpCode::matrix},
    {"matrixtriangularsolve", OpCode::matrix},
    {"max", OpCode::maximum_of},
    {"maximum", OpCode::maximum},
    {"maxpool", OpCode::keep},
    {"mean", OpCode::mean},
    {"meanvariancenormalization", OpCode::layer_norm},
    {"min", OpCode::minimum_of},
    {"minimum", OpCode::minimum},
    {"mod", OpCode::modulo},
    {"mul", OpCode::multiply},
    {"mulnonan", OpCode::mul_no_nan},
    {"multiheadattention", OpCode::matmul},
    {"multiply", OpCode::multiply},
    {"nantonum", OpCode::nan_to_num},
    {"ncclallreduce", OpCode::collective},
    {"ndtri", OpCode::open_domain},
    {"neg", OpCode::negate},
    {"negate", OpCode::negate},
    {"negativeloglikelihoodloss", OpCode::nll_loss},
    {"notequal", OpCode::not_float},
    {"onehot", OpCode::keep},
    {"optionalgetvalue", OpCode::container_get},
    {"pack", OpCode::keep},
    {"pad", OpCode::keep},
    {"partitionedcall", OpCode::call},
    {"placeholder", OpCode::placeholder},
    {"placeholderwithdefault", OpCode::identity},  // as in a vectorised map; a session may feed another value
    {"pow", OpCode::pow},
    {"prelu", OpCode::multiply},
    {"preventgradient", OpCode::identity},
    {"prod", OpCode::product},
    {"pyfunc", OpCode::python},
    {"pyfuncstateless", OpCode::python},
    {"qr", OpCode::matrix},
    {"quickgelu", OpCode::unbounded_smooth},
    {"randomshuffle", OpCode::keep},
    {"rank", OpCode::not_float},
    {"readvariableop", OpCode::read_variable},
    {"real", OpCode::from_complex},
    {"realdiv", OpCode::divide},
    {"reciprocal", OpCode::reciprocal},
    {"reciprocalgrad", OpCode::reciprocal_grad},
    {"reducedataset", OpCode::iterator_get},
    {"reducel1", OpCode::reduce_sum},
    {"reducel2", OpCode::reduce_sum},
    {"reducelogsumexp", OpCode::add_n},
    {"reducemax", OpCode::maximum_of},
    {"reducemean", OpCode::mean},
    {"reducemin", OpCode::minimum_of},
    {"reduceprod", OpCode::product},
    {"reducesum", OpCode::reduce_sum},
    {"reducesumsquare", OpCode::reduce_sum},
    {"relu", OpCode::relu},
    {"relu6", OpCode::relu},
    {"relu6grad", OpCode::keep},
    {"relugrad", OpCode::keep},
    {"reshape", OpCode::keep},
    {"resourceapplyadam", OpCode::apply},
    {"resourceapplygradientdescent", OpCode::apply},
    {"resourceapplykerasmomentum", OpCode::apply},
    {"resourceapplymomentum", OpCode::apply},
    {"resourceapplyrmsprop", OpCode::apply},
    {"resourcegather", OpCode::read_variable},
    {"resourcegathernd", OpCode::read_variable},
    {"retval", OpCode::function_return},
    {"reverse", OpCode::keep},
    {"rfft", OpCode::matmul},
    {"rfft2d", OpCode::matmul},
    {"rfft3d", OpCode::matmul},
    {"rmsnormalization", OpCode::layer_norm},
    {"rotaryembedding", OpCode::matmul},
    {"round", OpCode::keep},
    {"rsqrt", OpCode::rsqrt},
    {"rsqrtgrad", OpCode::sqrt_grad},
    {"segmentmax", OpCode::keep},
    {"segmentmean", OpCode::reduce_sum},
    {"segmentmin", OpCode::keep},
    {"segmentprod", OpCode::product},
    {"segmentsum", OpCode::reduce_sum},
    {"select", OpCode::select},
    {"selu", OpCode::relu},
    {"sequenceat", OpCode::keep},
    {"shape", OpCode::not_float},
    {"shapen", OpCode::not_float},
    {"sigmoid", OpCode::bounded},
    {"sigmoidgrad", OpCode::multiply},
    {"sign", OpCode::bounded},
    {"simplifiedlayernormalization", OpCode::layer_norm},
    {"sinh", OpCode::sinh},
    {"size", OpCode::not_float},
    {"slice", OpCode::keep},
    {"snapshot", OpCode::identity},
    {"softmax", OpCode::softmax},
    {"softmaxcrossentropyloss", OpCode::sparse_cross_entropy},
    {"softmaxcrossentropywithlogits", OpCode::cross_entropy},
    {"softplus", OpCode::unbounded_smooth},
    {"softplusgrad", OpCode::multiply},
    {"softsign", OpCode::bounded},
    {"sparsesegmentmean", OpCode::reduce_sum},
    {"sparsesegmentsqrtn", OpCode::reduce_sum},
    {"sparsesegmentsum", OpCode::reduce_sum},
    {"sparsesoftmaxcrossentropywithlogits", OpCode::sparse_cross_entropy},
    {"sparsetensordensematmul", OpCode::matmul},
    {"split", OpCode::split},
    {"splitv", OpCode::split},
    {"sqrt", OpCode::sqrt},
    {"sqrtgrad", OpCode::sqrt_grad},
    {"square", OpCode::square},
    {"squareddifference", OpCode::square},
    {"squeeze", OpCode::keep},
    {"statefulpartitionedcall", OpCode::call},
    {"statelesscase", OpCode::branch},
    {"statelessif", OpCode::branch},
    {"statelessrandomgetkeycounter", OpCode::not_float},
    {"statelesswhile", OpCode::loop},
    {"stft", OpCode::matmul},
    {"stopgradient", OpCode::identity},
    {"stridedslice", OpCode::keep},
    {"stridedslicegrad", OpCode::keep},
    {"sub", OpCode::subtract},
    {"subtract", OpCode::subtract},
    {"sum", OpCode::reduce_sum},
    {"tanh", OpCode::bounded},
    {"tanhgrad", OpCode::multiply},
    {"tensorlistconcat", OpCode::list_get},
    {"tensorlistfromtensor", OpCode::list_from},
    {"tensorlistgather", OpCode::list_get},
    {"tensorlistgetitem", OpCode::list_get},
    {"tensorlistpopback", OpCode::list_get},
    {"tensorlistpushback", OpCode::list_set},
    {"tensorlistsetitem", OpCode::list_set},
    {"tensorliststack", OpCode::list_get},
    {"tensorscatteradd", OpCode::add_n},
    {"tensorscatterupdate", OpCode::keep},
    {"thresholdedrelu", OpCode::relu},
    {"tile", OpCode::keep},
    {"topk", OpCode::keep},
    {"transpose", OpCode::keep},
    {"tridiagonalmatmul", OpCode::matmul},
    {"truediv", OpCode::divide},
    {"truncatemod", OpCode::modulo},
    {"unpack", OpCode::split},
    {"unsortedsegmentmax", OpCode::keep},
    {"unsortedsegmentmin", OpCode::keep},
    {"unsortedsegmentprod", OpCode::product},
    {"unsortedsegmentsum", OpCode::reduce_sum},
    {"unsqueeze", OpCode::keep},
    {"varhandleop", OpCode::variable_handle},
    {"variableshape", OpCode::not_float},
    {"where", OpCode::not_float},
    {"while", OpCode::loop},
    {"xdivy", OpCode::divide},
    {"xlog1py", OpCode::xlogy},
    {"xlogy", OpCode::xlogy},
};

// PyTorch's, without "aten::", where they are not those of others. Sorted, too.
inline constexpr OpName aten_names[] = {
    {"addbmm", OpCode::matmul},
    {"addcdiv", OpCode::add_quotient},
    {"addcmul", OpCode::matmul},
    {"addmm", OpCode::matmul},
    {"addmv", OpCode::matmul},
    {"addr", OpCode::matmul},
    {"amax", OpCode::maximum_of},
    {"amin", OpCode::minimum_of},
    {"baddbmm", OpCode::matmul},
    {"bmm", OpCode::matmul},
    {"cat", OpCode::keep},
    {"choleskyinverse", OpCode::matrix},
    {"choleskysolve", OpCode::matrix},
    {"clamp", OpCode::clamp},
    {"clampmax", OpCode::clamp},
    {"clampmin", OpCode::clamp},
    {"clone", OpCode::keep},
    {"complex", OpCode::keep},
    {"constantpadnd", OpCode::constant},
    {"convolution", OpCode::matmul},
    {"convolutionbackward", OpCode::matmul},
    {"copy", OpCode::cast},
    {"ctcloss", OpCode::ctc_loss},
    {"cudnnbatchnorm", OpCode::batch_norm},
    {"cummax", OpCode::keep},
    {"dot", OpCode::matmul},
    {"embedding", OpCode::keep},
    {"fftc2c", OpCode::matmul},
    {"fftc2r", OpCode::matmul},
    {"fftr2c", OpCode::matmul},
    {"fill", OpCode::constant},
    {"filldiagonal", OpCode::constant},
    {"flip", OpCode::keep},
    {"fmax", OpCode::maximum},
    {"fmin", OpCode::minimum},
    {"fmod", OpCode::modulo},
    {"full", OpCode::constant},
    {"fulllike", OpCode::constant},
    {"fusedrmsnorm", OpCode::layer_norm},
    {"gelu", OpCode::unbounded_smooth},
    {"hardtanh", OpCode::bounded},
    {"index", OpCode::keep},
    {"indexfill", OpCode::constant},
    {"indexselect", OpCode::keep},
    {"linalgcholeskyex", OpCode::matrix},
    {"linalgcross", OpCode::matmul},
    {"linalginvex", OpCode::matrix},
    {"linalgldlsolve", OpCode::matrix},
    {"linalglusolve", OpCode::matrix},
    {"linalgsolveex", OpCode::matrix},
    {"linalgsolvetriangular", OpCode::matrix},
    {"linalgvectornorm", OpCode::reduce_sum},
    {"logit", OpCode::open_domain},
    {"lusolve", OpCode::matrix},
    {"maskedfill", OpCode::constant},
    {"maxpool2dwithindices", OpCode::keep},
    {"mkldnnconvolution", OpCode::matmul},
    {"mkldnnlinear", OpCode::matmul},
    {"mm", OpCode::matmul},
    {"mv", OpCode::matmul},
    {"nantonum", OpCode::nan_to_num},
    {"nativebatchnorm", OpCode::batch_norm},
    {"nativebatchnormlegit", OpCode::batch_norm},
    {"nativegroupnorm", OpCode::layer_norm},
    {"nativegroupnormbackward", OpCode::layer_norm},
    {"nativelayernorm", OpCode::layer_norm},
    {"nativelayernormbackward", OpCode::layer_norm},
    {"newfull", OpCode::constant},
    {"nllloss2dbackward", OpCode::nll_loss},
    {"nllloss2dforward", OpCode::nll_loss},
    {"nlllossbackward", OpCode::nll_loss},
    {"nlllossforward", OpCode::nll_loss},
    {"norm", OpCode::reduce_sum},
    {"padsequence", OpCode::constant},
    {"prelukernel", OpCode::multiply},
    {"remainder", OpCode::modulo},
    {"repeat", OpCode::keep},
    {"roll", OpCode::keep},
    {"rsub", OpCode::subtract},
    {"scalartensor", OpCode::constant},
    {"scatter", OpCode::constant},
    {"sgn", OpCode::bounded},
    {"silu", OpCode::unbounded_smooth},
    {"slowconv2dforward", OpCode::matmul},
    {"slowconv3dforward", OpCode::matmul},
    {"slowconvtranspose2d", OpCode::matmul},
    {"slowconvtranspose3d", OpCode::matmul},
    {"sort", OpCode::keep},
    {"specialbessely0", OpCode::open_domain},
    {"specialentr", OpCode::open_domain},
    {"specialmodifiedbesselk0", OpCode::open_domain},
    {"specialndtri", OpCode::open_domain},
    {"specialscaledmodifiedbesselk0", OpCode::open_domain},
    {"specialxlog1py", OpCode::xlogy},
    {"stack", OpCode::keep},
    {"std", OpCode::deviation},
    {"stdmean", OpCode::deviation},
    {"thnnconv2d", OpCode::matmul},
    {"thresholdbackward", OpCode::keep},
    {"tocopy", OpCode::cast},
    {"topk", OpCode::keep},
    {"triangularsolve", OpCode::matrix},
    {"tril", OpCode::keep},
    {"trilinear", OpCode::matmul},
    {"triu", OpCode::keep},
    {"truedivide", OpCode::divide},
    {"var", OpCode::deviation},
    {"varmean", OpCode::deviation},
    {"where", OpCode::select},
    {"zero", OpCode::constant},
};

// ggml's, in capitals there, where they are not those of others, or mean something else. Sorted, too. A view has no
// values of its own: it is its input.
inline constexpr OpName ggml_names[] = {
    {"acc", OpCode::add},
    {"add", OpCode::add},
    {"add1", OpCode::add},
    {"addid", OpCode::add},
    {"argsort", OpCode::not_float},
    {"clamp", OpCode::clamp},
    {"cont", OpCode::keep},
    {"conv2d", OpCode::matmul},
    {"conv2ddw", OpCode::matmul},
    {"conv3d", OpCode::matmul},
    {"convtranspose1d", OpCode::matmul},
    {"convtranspose2d", OpCode::matmul},
    {"cos", OpCode::bounded},
    {"cpy", OpCode::cast},
    {"crossentropyloss", OpCode::cross_entropy},
    {"diagmaskinf", OpCode::constant},
    {"diagmaskzero", OpCode::keep},
    {"dup", OpCode::keep},
    {"fill", OpCode::constant},
    {"flashattnext", OpCode::matmul},
    {"geglu", OpCode::multiply},
    {"gelu", OpCode::unbounded_smooth},
    {"geluerf", OpCode::unbounded_smooth},
    {"geluquick", OpCode::unbounded_smooth},
    {"getrows", OpCode::keep},
    {"groupnorm", OpCode::layer_norm},
    {"hardsigmoid", OpCode::bounded},
    {"hardswish", OpCode::unbounded_smooth},
    {"im2col", OpCode::cast},
    {"mulmat", OpCode::matmul},
    {"mulmatid", OpCode::matmul},
    {"norm", OpCode::layer_norm},
    {"outprod", OpCode::matmul},
    {"permute", OpCode::identity},
    {"pool1d", OpCode::keep},
    {"pool2d", OpCode::keep},
    {"reglu", OpCode::multiply},
    {"repeat", OpCode::keep},
    {"repeatback", OpCode::reduce_sum},
    {"reshape", OpCode::identity},
    {"rmsnorm", OpCode::layer_norm},
    {"roll", OpCode::keep},
    {"scale", OpCode::multiply},
    {"set", OpCode::keep},
    {"setrows", OpCode::cast},
    {"sgn", OpCode::bounded},
    {"silu", OpCode::unbounded_smooth},
    {"sin", OpCode::bounded},
    {"softmax", OpCode::softmax},
    {"solvetri", OpCode::matrix},
    {"sqr", OpCode::square},
    {"step", OpCode::bounded},
    {"sumrows", OpCode::reduce_sum},
    {"swiglu", OpCode::multiply},
    {"topk", OpCode::not_float},
    {"transpose", OpCode::identity},
    {"tri", OpCode::keep},
    {"upscale", OpCode::keep},
    {"view", OpCode::identity},
};

template <std::size_t N>
constexpr bool sorted_by_name(const OpName (&names)[N]) {
  for (std::size_t i = 1; i < N; ++i)
    if (!(names[i - 1].name < names[i].name)) return false;
  return true;
}
static_assert(sorted_by_name(op_names) && sorted_by_name(aten_names) && sorted_by_name(ggml_names));

template <std::size_t N>
const OpName* find_name(const OpName (&names)[N], std::string_view plain) noexcept {
  const auto* const found =
      std::lower_bound(std::begin(names), std::end(names), plain,
                       [](const OpName& entry, std::string_view name) { return entry.name < name; });
  return found != std::end(names) && found->name == plain ? found : nullptr;
}

// Lower case, without '_', and without a version ("AddV2" and "add" are one op).
inline std::string plain_name(std::string_view type) {
  std::string plain;
  for (const char c : type)
    if (c != '_') plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const std::size_t v = plain.find_last_not_of("0123456789");
  if (v != std::string::npos && v > 0 && v + 1 < plain.size() && plain[v] == 'v') plain.resize(v);
  return plain;
}

// Is one of the parts in a plain name?
template <std::size_t N>
bool has_any(std::string_view plain, const std::string_view (&parts)[N]) {
  return std::any_of(std::begin(parts), std::end(parts),
                     [plain](std::string_view part) { return plain.find(part) != std::string_view::npos; });
}

}  // namespace detail

/// The code of an op type; `other` for types without rules.
inline OpCode op_code(std::string_view type) {
  constexpr std::string_view aten = "aten::";
  const bool is_aten = type.starts_with(aten);
  if (is_aten) type.remove_prefix(aten.size());
  const std::string plain = detail::plain_name(type);
  if (const detail::OpName* const found = is_aten ? detail::find_name(detail::aten_names, plain) : nullptr)
    return found->code;
  const bool is_ggml = type.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
  if (const detail::OpName* const found = is_ggml ? detail::find_name(detail::ggml_names, plain) : nullptr)
    return found->code;
  if (const detail::OpName* const found = detail::find_name(detail::op_names, plain)) return found->code;
  if (type == "Enter" || type == "Exit" || type == "Merge" || type == "Switch" || type == "NextIteration" ||
      type == "RefEnter" || type == "RefSwitch" || type == "RefMerge")
    return OpCode::v1_flow;
  constexpr std::string_view writes[] = {"resourceapply", "resourcesparseapply", "resourcescatter",
                                         "resourcestridedsliceassign"};
  const bool write = std::any_of(std::begin(writes), std::end(writes),
                                 [&](std::string_view start) { return plain.starts_with(start); });
  return write ? OpCode::apply : OpCode::other;
}

/// Does the output have one element per element of the first input?
constexpr bool is_elementwise(OpCode op) noexcept {
  switch (op) {
    case OpCode::log:
    case OpCode::log1p:
    case OpCode::sqrt:
    case OpCode::rsqrt:
    case OpCode::reciprocal:
    case OpCode::exp:
    case OpCode::sinh:
    case OpCode::bounded:
    case OpCode::relu:
    case OpCode::unbounded_smooth:
    case OpCode::cast:
    case OpCode::inverse_trigonometric:
    case OpCode::open_domain:
    case OpCode::negate:
    case OpCode::square: return true;
    default: return false;
  }
}

/// Has its output at least as many elements as each input, or none where one has none?
constexpr bool broadcasts(OpCode op) noexcept {
  switch (op) {
    case OpCode::divide:
    case OpCode::modulo:
    case OpCode::div_no_nan:
    case OpCode::mul_no_nan:
    case OpCode::xlogy:
    case OpCode::pow:
    case OpCode::multiply:
    case OpCode::add:
    case OpCode::subtract:
    case OpCode::maximum:
    case OpCode::minimum: return true;
    default: return is_elementwise(op);
  }
}

/// Can the op only pass on what comes in: finite inputs give finite outputs, always?
constexpr bool only_preserves(OpCode op) noexcept {
  switch (op) {
    case OpCode::keep:
    case OpCode::split:
    case OpCode::negate:
    case OpCode::maximum:
    case OpCode::minimum:
    case OpCode::relu:
    case OpCode::bounded:
    case OpCode::select:
    case OpCode::clamp:
    case OpCode::nan_to_num:
    case OpCode::softmax: return true;
    default: return false;
  }
}

/// Can the op make elements only of elements, so that what has some was made of no empty input?
constexpr bool needs_elements(OpCode op) noexcept { return broadcasts(op) || only_preserves(op); }

/// Are all the inputs of TensorFlow's op of the type of its output?
inline bool has_one_type(std::string_view type) {
  constexpr std::string_view names[] = {
      "Abs",     "Add",      "AddN", "AddV2",   "BatchMatMulV2", "BiasAdd",           "Conv2D",  "Div",
      "Elu",     "Exp",      "Log",  "Log1p",   "MatMul",        "Maximum",           "Minimum", "Mul",
      "Neg",     "Pow",      "Relu", "RealDiv", "Relu6",         "ReluGrad",          "Rsqrt",   "Selu",
      "Sigmoid", "Softplus", "Sqrt", "Square",  "Sub",           "SquaredDifference", "Tanh"};
  return std::find(std::begin(names), std::end(names), type) != std::end(names);
}

/// Is what TensorFlow's op gives bad whenever an element of an input is? So it is where every element counts, and none
/// can come out finite: no quotient, whose divisor may be infinite, and nothing that takes a part.
inline bool shows_all_that_is_bad(std::string_view type) {
  constexpr std::string_view names[] = {"Abs",         "Add",
                                        "AddN",        "AddV2",
                                        "BatchMatMul", "BatchMatMulV2",
                                        "BiasAdd",     "BiasAddGrad",
                                        "ConcatV2",    "Cos",
                                        "Floor",       "Log",
                                        "Log1p",       "MatMul",
                                        "Mean",        "Mul",
                                        "Neg",         "Pack",
                                        "Reshape",     "Sin",
                                        "Sqrt",        "Sub",
                                        "Sum",         "Square",
                                        "Squeeze",     "SquaredDifference",
                                        "Transpose"};
  return std::find(std::begin(names), std::end(names), type) != std::end(names);
}

/// Are the inputs of TensorFlow's op of this kind but the first integers, such as axes and classes?
constexpr bool has_one_value(OpCode op) noexcept {
  switch (op) {
    case OpCode::reduce_sum:
    case OpCode::product:
    case OpCode::mean:
    case OpCode::cumulative_sum:
    case OpCode::sparse_cross_entropy:
    case OpCode::maximum_of:
    case OpCode::minimum_of: return true;
    default: return false;
  }
}

/// Is it a layer, to which what comes in is data or a weight? Attention takes masks, too; so do batches of products to
/// which something is added, as PyTorch's attention was made of.
inline bool takes_weights(OpCode code, std::string_view type) {
  constexpr std::string_view mixed[] = {"attention", "flashattn", "addbmm"};
  constexpr std::string_view names[] = {"bias",    "lstm",    "grucell",   "grublock",      "cudnnrnn",
                                        "rnntanh", "rnnrelu", "embedding", "resourcegather"};
  const std::string plain = detail::plain_name(type);
  if (code == OpCode::matmul) return !detail::has_any(plain, mixed);
  return code == OpCode::batch_norm || plain.ends_with("gru") || plain.ends_with("rnn") ||
         detail::has_any(plain, names);
}

/// Does PyTorch's op write over elements of a tensor, whatever they held?
inline bool writes_over(std::string_view type) {
  constexpr std::string_view names[] = {"aten::copy_", "aten::index_put_", "aten::_index_put_impl_",
                                        "aten::index_copy_", "aten::masked_scatter_"};
  return std::find(std::begin(names), std::end(names), type) != std::end(names);
}

/// Of an op that gives a number that it does not compute: does it put that into a tensor, or make one of it, so that
/// there is no constant to speak of?
inline bool fills_in(OpCode code, std::string_view type) {
  constexpr std::string_view constants[] = {"const", "constant", "constantofshape", "aten::scalartensor"};
  return writes_over(type) || (code == OpCode::constant && std::find(std::begin(constants), std::end(constants),
                                                                     detail::plain_name(type)) == std::end(constants));
}

/// Of an op that normalises by its own statistics: by a variance, and not by the mean of the squares?
inline bool takes_mean_away(std::string_view type) {
  constexpr std::string_view others[] = {"rms", "simplified", "lrn"};
  return !detail::has_any(detail::plain_name(type), others);
}

/// Is it the logarithm of the gamma function, or one of its derivatives, with poles at 0, −1, −2, …?
inline bool has_poles(std::string_view type) {
  constexpr std::string_view names[] = {"lgamma", "gammaln", "digamma", "polygamma"};
  constexpr std::string_view others[] = {"mvlgamma"};
  const std::string plain = detail::plain_name(type);
  return detail::has_any(plain, names) && !detail::has_any(plain, others);
}

/// Does the op tell which values are NaN, or finite?
inline bool asks_if_finite(std::string_view type) {
  const std::string plain = detail::plain_name(type);
  return plain.ends_with("isnan") || plain.ends_with("isfinite");
}

/// Does the op look rows up in its first input: is that a table that is learnt, if a variable holds it?
inline bool looks_up(std::string_view type) {
  const std::string plain = detail::plain_name(type);
  return plain == "gather" || plain == "gatherv2" || plain == "gathernd";
}

/// Does PyTorch's op take those elements of its first input that an index or a mask names?
inline bool takes_named(std::string_view type) {
  constexpr std::string_view names[] = {"aten::index", "aten::index_select", "aten::masked_select", "aten::take",
                                        "aten::gather"};
  return std::find(std::begin(names), std::end(names), type) != std::end(names);
}

/// Does the op leave out what is NaN, as values that are missing?
inline bool leaves_nan_out(std::string_view type) {
  constexpr std::string_view names[] = {"nansum", "nanmean", "nanmedian", "nanmin", "nanmax", "nanstd", "nanvar"};
  constexpr std::string_view aten = "aten::";
  if (type.starts_with(aten)) type.remove_prefix(aten.size());
  return std::find(std::begin(names), std::end(names), detail::plain_name(type)) != std::end(names);
}

/// Is an op called by a name that says that it masks?
inline bool is_called_mask(std::string_view name) {
  constexpr std::string_view parts[] = {"mask"};
  return detail::has_any(detail::plain_name(name), parts);
}

/// Does the op add up exponentials, and take the logarithm of that?
constexpr bool is_log_sum_exp(std::string_view type) noexcept {
  return type.ends_with("ogSumExp") || type.ends_with("logsumexp");
}

/// Does the op give every element of its input, perhaps in another shape or order?
inline bool keeps_all(OpCode code, std::string_view type) {
  constexpr std::string_view names[] = {"transpose", "reshape", "squeeze", "unsqueeze", "expanddims", "flatten"};
  const std::string plain = detail::plain_name(type);
  return code == OpCode::identity || std::find(std::begin(names), std::end(names), plain) != std::end(names);
}

/// Does the op look at the shapes of its inputs alone, whatever they hold?
inline bool looks_at_shapes_only(OpCode code, std::string_view type) {
  if (code != OpCode::not_float && code != OpCode::constant && code != OpCode::other) return false;
  constexpr std::string_view aten = "aten::";
  if (type.starts_with(aten)) type.remove_prefix(aten.size());
  constexpr std::string_view names[] = {
      "shape",       "shapen",   "variableshape", "size",     "rank",      "broadcastgradientargs",
      "zeroslike",   "oneslike", "fulllike",      "randlike", "randnlike", "emptylike",
      "randintlike", "newfull",  "newzeros",      "newones",  "newempty"};
  return std::find(std::begin(names), std::end(names), detail::plain_name(type)) != std::end(names);
}

/// Does TensorFlow's op put its inputs into a list, a queue or an optional, where they stay what they are?
inline bool puts_into_container(OpCode code, std::string_view type) {
  return code == OpCode::list_from || code == OpCode::list_set || type == "OptionalFromValue" ||
         type.find("Enqueue") != type.npos || type.starts_with("TensorArrayWrite") || type.starts_with("StackPush");
}

/// Does the op leave elements out, or replace them, as its program says: are the infinities that it removes meant to be
/// removed? Not those that maximum and minimum remove, which make a ReLU, too.
constexpr bool chooses(OpCode op) noexcept {
  switch (op) {
    case OpCode::select:
    case OpCode::clamp:
    case OpCode::nan_to_num:
    case OpCode::mul_no_nan:             // what it multiplies by 0 is 0, whatever it was
    case OpCode::constant: return true;  // it fills a part of its input
    default: return false;
  }
}

/// Does the op give NaN or infinity where an input is 0: is it undone by the same zeros as another such op?
constexpr bool fails_at_zero(OpCode op) noexcept {
  switch (op) {
    case OpCode::log:
    case OpCode::reciprocal:
    case OpCode::divide:
    case OpCode::add_quotient:
    case OpCode::modulo:
    case OpCode::rsqrt:
    case OpCode::pow:
    case OpCode::nll_loss:
    case OpCode::sqrt_grad:
    case OpCode::reciprocal_grad: return true;
    default: return false;
  }
}

/// The code where the result is complex: `other` for ops that do something else to complex numbers than to real ones.
constexpr OpCode code_of_complex(OpCode op) noexcept {
  switch (op) {
    case OpCode::log:
    case OpCode::log1p:
    case OpCode::sqrt:
    case OpCode::rsqrt:
    case OpCode::exp:
    case OpCode::sinh:
    case OpCode::pow:
    case OpCode::bounded:
    case OpCode::inverse_trigonometric:
    case OpCode::open_domain:
    case OpCode::sqrt_grad: return OpCode::other;
    default: return op;
  }
}

/// Is the result the same tensor under another name?
constexpr bool is_relay(OpCode op) noexcept {
  switch (op) {
    case OpCode::identity:
    case OpCode::identity_n:
    case OpCode::placeholder:
    case OpCode::read_variable:
    case OpCode::container_get:
    case OpCode::function_return:
    case OpCode::v1_flow:
    case OpCode::list_get:
    case OpCode::branch:
    case OpCode::loop:
    case OpCode::call: return true;
    default: return false;
  }
}

/// Comes what is bad in an element of the output from one element of each input, so that it does not spread?
inline bool keeps_elements_apart(OpCode code, std::string_view type) {
  const bool preserves = only_preserves(code) && code != OpCode::softmax;
  return preserves || broadcasts(code) || code == OpCode::constant || is_relay(code) ||
         puts_into_container(code, type) || code == OpCode::iterator_get || takes_named(type) || writes_over(type);
}

/// Are its outputs floating-point, whatever its inputs are? Where such an op has no row, a filter left it out.
constexpr bool is_always_float(OpCode op) noexcept {
  switch (op) {
    case OpCode::log:
    case OpCode::log1p:
    case OpCode::sqrt:
    case OpCode::rsqrt:
    case OpCode::exp:
    case OpCode::softmax:
    case OpCode::log_softmax:
    case OpCode::cross_entropy:
    case OpCode::divide:
    case OpCode::div_no_nan: return true;
    default: return false;
  }
}

}  // namespace nanlens::causes
