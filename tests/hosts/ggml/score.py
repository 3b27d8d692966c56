"""Scores `nanlens why` on what the programs of programs.cpp recorded: the right node, the right layer, and nothing where nothing is wrong."""
import json
import subprocess

# Op, node, class, words of the answer, how many graphs there are and how often they ran.
EXPECTED = {
    "log_negative": ("LOG", "log-1", "made", ["128 negative values from scaled-1", "All 12 bad tensors"], 1, 2),
    "two_threads": ("LOG", "log-1", "made", ["128 negative values from scaled-1", "All 12 bad tensors"], 1, 2),
    "chained": ("LOG", "log-1", "made", ["128 negative values from scaled-1", "All 12 bad tensors"], 1, 2),
    "div_zero": ("DIV", "div-2", "made", ['0/0 in DIV "div-2"', "128 zeros"], 1, 1),
    "masked_row": ("SOFT_MAX", "kq_soft_max-1", "source", ["Every entry of a row was masked"], 1, 1),
    "matmul_overflow": ("MUL_MAT", "ffn_up-1", "made", ["float32"], 1, 1),
    "quantised": ("MUL_MAT", "ffn_up-1", "source", ["were already in blk.1.ffn_up.weight", "1,024 of 1,024"], 1, 1),
    "half_overflow": ("CPY", "half-1", "made", ["128 of 128 values are beyond 65504"], 1, 1),
    "views": ("SQRT", "root-1", "made", ["16 negative values", "All 3 bad tensors"], 1, 1),
    "reuse": ("EXP", "exp-2", "made", ["64 of 64 values exceed 88.72"], 1, 1),
    "backward": ("DIV", None, "made", ["0/0 in DIV", "grad for root-0 has 2 zeros"], 1, 1),
    "several_graphs": ("LOG", "log-1", "made", ["16 negative values", "It happened 3 times"], 2, 6),
    "in_place": ("LOG", "log-3", "made", ["5 zeros of blk.3.gain.weight"], 1, 1),
    "cache": ("SQRT", "k-0", "made", ["5 negative values from x", "All 3 bad tensors"], 1, 1),
    "training": ("LOG", "log-0", "made", ["2 zeros of h-0", "All 13 bad tensors"], 1, 3),
    "clean": (None, None, None, [], 1, 1),
    "flags": (None, None, None, [], 1, 2),
    "in_one_context": (None, None, None, [], 1, 1),
}
FLAGS = {"flags": "norm-2:0 (row 7 in ggml_graph): overflow", "in_one_context": None}


def output(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True).stdout


def judge(name, nanlens, logdir):
    """What is wrong with the answer; empty if it is right."""
    op, node, how, says, graphs, runs = EXPECTED[name]
    found = json.loads(output(nanlens, "why", "--json", logdir))
    head = found["headline"]
    named = len([line for line in output(nanlens, "dump", "--what", "graphs", logdir).splitlines() if json.loads(line)["graph_name"]])
    ran = len(output(nanlens, "dump", "--what", "executions", logdir).splitlines())
    if (named, ran) != (graphs, runs):
        return f"{named} graphs, which ran {ran} times"
    if name in FLAGS:
        said = output(nanlens, "why", logdir)
        if FLAGS[name] not in said if FLAGS[name] else "removed inside one op" in said:
            return "other flags: " + said
    if head is None or op is None:
        return "" if head is None and op is None else f"answered {head and head['sentence']}"
    right = head["op_type"] == op and head["class"] == how and node in (None, head["op_name"])
    text = f"{head['sentence']} {head['consequence']}"
    return "" if right and all(words in text for words in says) else f"{head['op_type']} {head['op_name']} {head['class']}: {text}"
