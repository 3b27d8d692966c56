"""Writes a random model of llama.cpp's architecture "llama", of 100 kB: `make_model.py FILE KIND`. Needs the Python package gguf.

KIND: fine; infinite, where one matrix overflows; silent, where embeddings are so large that squares overflow and nothing else does.
"""
import sys

import gguf
import numpy as np

LAYERS, WIDTH, HEADS, HIDDEN, TOKENS = 2, 32, 4, 64, 64
MATRICES = {"attn_q": (WIDTH, WIDTH), "attn_k": (WIDTH, WIDTH), "attn_v": (WIDTH, WIDTH), "attn_output": (WIDTH, WIDTH),
            "ffn_gate": (HIDDEN, WIDTH), "ffn_up": (HIDDEN, WIDTH), "ffn_down": (WIDTH, HIDDEN)}


def tensors(kind):
    random = np.random.default_rng(0)

    def weights(*shape):
        return random.normal(0, 0.1, shape).astype(np.float32)
    yield "token_embd", weights(TOKENS, WIDTH) * np.float32(1e38 if kind == "silent" else 1)
    yield "output", weights(TOKENS, WIDTH)
    yield "output_norm", np.ones(WIDTH, np.float32)
    for layer in range(LAYERS):
        for name, shape in MATRICES.items():
            name = f"blk.{layer}.{name}"
            too_large = kind == "infinite" and name == "blk.1.ffn_up"
            yield name, np.full(shape, 3e38, np.float32) if too_large else weights(*shape)
        yield f"blk.{layer}.attn_norm", np.ones(WIDTH, np.float32)
        yield f"blk.{layer}.ffn_norm", np.ones(WIDTH, np.float32)


def main():
    writer = gguf.GGUFWriter(sys.argv[1], "llama")
    writer.add_block_count(LAYERS)
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(TOKENS)
    writer.add_tokenizer_model("no_vocab")
    for name, values in tensors(sys.argv[2]):
        writer.add_tensor(name + ".weight", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main()
