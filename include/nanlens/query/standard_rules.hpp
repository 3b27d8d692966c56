/// @file
/// Rules that ship: what goes wrong in training and inference before it becomes a NaN.
#pragma once

#include <string_view>

#include <nanlens/config.hpp>

namespace nanlens::inline NANLENS_ABI::query {

/// As a text of rules: to be read by `parse_rules`, or copied and changed. None of them is an error: each has innocent
/// reasons, too. None needs regular expressions.
inline constexpr std::string_view standard_rules =
    R"(# The rules of `nanlens check --rules standard`. Those on min, max, mean, absmax and norm need .statistics = true.

# Lu et al., Dying ReLU and Initialization (2019): units that give 0 for all inputs get no gradient and stay so.
warning dead relu: zero>95% size>1 type:Relu -type:Grad -type:Backward -type:Leaky for 5 calls -- nearly all units give 0 and no longer learn: a lower learning rate or another initialization may help

# Pascanu et al., On the difficulty of training recurrent neural networks (2013).
warning exploding gradient: absmax grows 100x in 10 calls absmax>1 (type:Grad or type:Backward or op:grad or graph:__backward) -- clip the gradient, or lower the learning rate
warning vanishing gradient: (zero=100% or absmax<1e-8) size>1 (type:Grad or type:Backward or op:grad or graph:__backward) for 5 calls -- what lies before this op does not learn

# Micikevicius et al., Mixed Precision Training (2018); IEEE 754: the largest float16 is 65504.
warning float16 near overflow: absmax>32752 dtype:float16 -dtype:bfloat16 -- less than a factor of 2 below infinity: scale the loss, or compute this in float32

# IEEE 754: numbers below the least normal one have fewer digits. Dooley, Kale, Quantifying the Interference Caused by
# Subnormal Floating-Point Values (2006): and many processors take a hundred times as long for them.
# Those among larger numbers of both signs are not on record.
note denormals: ((min>0 min<1.17549435e-38) or (max<0 max>-1.17549435e-38) or (absmax>0 absmax<1.17549435e-38)) (dtype:float32 or dtype:bfloat16) -- numbers too small for full precision, and slow on many processors
note float16 denormals: ((min>0 min<6.1035e-5) or (max<0 max>-6.1035e-5) or (absmax>0 absmax<6.1035e-5)) dtype:float16 -dtype:bfloat16 -- numbers too small for full precision: scale them

# Glorot, Bengio, Understanding the difficulty of training deep feedforward neural networks (2010): no gradient passes.
# A softmax gives 0 only where its exponential underflows: with masks that is meant.
note saturated softmax: zero>50% size>1 type:Softmax -type:Log -type:CrossEntropy -type:Grad -type:Backward for 5 calls -- most probabilities are exactly 0: their logits are far below the largest, or masked
note saturated sigmoid: (zero>50% or max<1e-3 or min>0.999) size>1 type:Sigmoid -type:Log -type:CrossEntropy -type:Grad -type:Backward for 5 calls -- its inputs are far from 0, and its gradient vanishes

# A layer that gives the same for all inputs and all units has lost what came in.
note constant tensor: constant (type:MatMul or type:Conv or type:Linear or type:Gemm or type:addmm) -type:Grad -type:Backward for 5 calls -- all its elements are the same number

# Chowdhery et al., PaLM (2022), 5.1: spikes of the loss, which earlier checkpoints and other batches do not show.
warning loss jump: absmax grows 10x in 1 call absmax>1 size=1 (op:loss or graph:loss or type:loss or type:CrossEntropy) -- look at the batch before this call

# Ioffe, Szegedy, Batch Normalization (2015): where the variance is 0, what is added to it alone decides. TensorFlow's third
# output is the variance; PyTorch's is 1/sqrt(variance + 1e-5), which is 316.2 then.
warning zero variance in batch norm: ((type:FusedBatchNorm slot:2 zero>0) or (type:batch_norm slot:2 max>316.2)) -type:Grad -type:Backward -- a channel is constant in this batch
)";

}  // namespace nanlens::inline NANLENS_ABI::query
