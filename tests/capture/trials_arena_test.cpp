// A trial: a transformer's block in arenas, wrapped in part.
#include <algorithm>
#include <cmath>
#include <string>

#include "trial.hpp"
#include "trial_block.hpp"

using namespace nanlens;
using test::TransformerBlock;
using test::Trial;

namespace {

const Trial arena_trials[] = {
    {"a word whose channels are all the same, and no epsilon",
     [] {
       TransformerBlock block;
       block.epsilon = 0;
       std::fill_n(block.p.wte + 3 * TransformerBlock::C, TransformerBlock::C, 0.5F);
       for (int i = 0; i < 2; ++i) block.step();
     },
     "LayerNorm block.ln", "generic", "made NaN in 4 of 24 elements from clean inputs", true, 3},
    {"a softmax that does not take the maximum away",
     [] {
       TransformerBlock block;
       block.shift_scores = false;
       for (int i = 0; i < TransformerBlock::C * TransformerBlock::C; ++i) block.p.qk_w[i] *= 1000;
       for (int i = 0; i < 2; ++i) block.step();
     },
     "Softmax block.attention", "generic", "; exponentials overflow in it unless the maximum is taken away first", true,
     3},
    {"a target whose probability is 0",
     [] {
       TransformerBlock block;
       for (int c = 0; c < TransformerBlock::C; ++c) block.p.wte[4 * TransformerBlock::C + c] *= 1000;
       for (int i = 0; i < 2; ++i) block.step();
     },
     "CrossEntropy block.loss", "generic", "made +∞ in 3 of 6 elements from clean inputs; the result of Softmax has",
     true, 1},
    {"the checkpoint holds a NaN, in the weights of the norm",
     [] {
       TransformerBlock block;
       block.p.ln_w[1] = NAN;
       for (int i = 0; i < 2; ++i) block.step();
     },
     "LayerNorm block.ln", "arrived", "already in input 1 of LayerNorm \"block.ln\"", false, 3},
    {"the checkpoint holds a NaN, in weights that a wrapped op reads behind an op that is not wrapped",
     [] {
       TransformerBlock block;
       block.p.fc_w[5] = NAN;
       for (int i = 0; i < 2; ++i) block.step();
     },
     "MatMul block.fc", "arrived", "(1 of 16 elements), which was not recorded before", false, 2},
    {"an activation that is not wrapped divides by 0, in a slice that nobody recorded",
     [] {
       TransformerBlock block;
       for (int i = 0; i < 3; ++i) {
         block.gelu_scale = i == 1 ? 0.0F : 1.0F;
         block.step();
       }
     },
     "MatMul block.fc", "arrived", "already in input 0 of MatMul \"block.fc\"", false, 3},
    {"the same in place, in the slice of a recorded op",
     [] {
       TransformerBlock block;
       block.gelu_in_place = true;
       for (int i = 0; i < 3; ++i) {
         block.gelu_scale = i == 1 ? 0.0F : 1.0F;
         block.step();
       }
     },
     "MatMul block.fc", "changed", "its memory, which held the result of MatMul, was changed since", false, 3},
    {"the update divides 0 by 0, and is wrapped",
     [] {
       TransformerBlock block;
       for (int i = 0; i < 3; ++i) block.step(0.01F, i == 1 ? 0.0F : 1e-8F, true);
     },
     "Update block.adam", "generic", "made NaN in 40 of 60 elements from clean inputs", true, 1},
    {"the update divides 0 by 0, and is not wrapped",
     [] {
       TransformerBlock block;
       for (int i = 0; i < 3; ++i) block.step(0.01F, i == 1 ? 0.0F : 1e-8F, false);
     },
     "LayerNorm block.ln", "arrived", "already in input 1 of LayerNorm \"block.ln\"", false, 2},
};

}  // namespace

TEST_CASE("trial: a transformer's block in arenas, behind raw pointers, wrapped in part") {
  test::check_clean([] {
    TransformerBlock block;
    for (int i = 0; i < 3; ++i) block.step();
  });
  for (const bool in_functions : {false, true}) {
    CAPTURE(in_functions);
    TransformerBlock::in_functions = in_functions;
    test::check_trials(arena_trials, [](const std::string& op) { return TransformerBlock::lines()[op]; }, in_functions);
  }
  TransformerBlock::in_functions = false;
}
