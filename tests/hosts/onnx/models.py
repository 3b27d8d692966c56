"""Models with a known culprit, and what is expected of each: MODELS[name] = (graph, feed, written, optimised). The feed is that of x,
or one for each input by its name. The last two are (op type, name of the node, words of the sentence), or None where all is well; the last is left out where it is the same."""
import numpy
from numpy import float32

from proto import BOOL, FLOAT, FLOAT16, INT64, Graph, node, value

x3 = value("x", FLOAT, [2, 3])
y3 = value("y", FLOAT, [2, 3])
plain = numpy.array([[1, 2, 3], [4, 5, 6]], float32)


def f(*numbers):
    return numpy.array(numbers, float32)


def chain(*nodes, out=y3, **held):
    return Graph(list(nodes), [x3], [out], **held)


def with_if():
    then = Graph([node("Sub", "m two", "d", "then_sub"), node("Sqrt", "d", "t", "then_sqrt")], [], [value("t", FLOAT, [2, 3])])
    other = Graph([node("Identity", "m", "e")], [], [value("e", FLOAT, [2, 3])])
    return Graph([node("Mul", "x two", "m", "scale"), node("ReduceMax", "x", "most", "most", keepdims=0),
                  node("Greater", "most two", "big", "is_big"),
                  node("If", "big", "b", "choose", then_branch=then, else_branch=other), node("Neg", "b", "y", "neg")],
                 [x3], [y3], two=numpy.array(2.0, float32))


def with_loop():
    """v = sqrt(v − c): c comes from outside; the third iteration is the first with a negative number."""
    body = Graph([node("Sub", "v_in c", "d", "less"), node("Sqrt", "d", "v_out", "root"), node("Identity", "go", "go_on"),
                  node("Mul", "v_out c", "scanned", "scan")],
                 [value("i", INT64, []), value("go", BOOL, []), value("v_in", FLOAT, [2, 3])],
                 [value("go_on", BOOL, []), value("v_out", FLOAT, [2, 3]), value("scanned", FLOAT, [2, 3])])
    return Graph([node("Neg", "minus", "c", "outside"), node("Loop", "n yes x", "v all", "loop", body=body),
                  node("Exp", "v", "y", "exp")],
                 [x3], [y3, value("all", FLOAT, [5, 2, 3])], n=numpy.array(5), yes=numpy.array(True), minus=f(-1))


def with_quiet_loop():
    """Only what the loop hands out of its second iteration is bad: what goes on is clean."""
    body = Graph([node("Sub", "v_in one", "v_out", "count"), node("Log", "v_out", "scanned", "log"), node("Identity", "go", "go_on")],
                 [value("i", INT64, []), value("go", BOOL, []), value("v_in", FLOAT, [2, 3])],
                 [value("go_on", BOOL, []), value("v_out", FLOAT, [2, 3]), value("scanned", FLOAT, [2, 3])])
    return Graph([node("Loop", "n yes x", "v all", "loop", body=body), node("Neg", "all", "y", "neg")],
                 [x3], [value("y", FLOAT, [3, 2, 3]), value("v", FLOAT, [2, 3])], n=numpy.array(3), yes=numpy.array(True), one=f(1))


def with_if_in_loop():
    """From its third iteration on the body takes the logarithm of what it is given, which then holds a zero."""
    then = Graph([node("Log", "less", "t", "log")], [], [value("t", FLOAT, [2, 3])])
    other = Graph([node("Identity", "less", "e")], [], [value("e", FLOAT, [2, 3])])
    body = Graph([node("Sub", "v_in one", "less", "less"), node("Greater", "i second", "late", "late"),
                  node("If", "late", "v_out", "choose", then_branch=then, else_branch=other), node("Identity", "go", "go_on")],
                 [value("i", INT64, []), value("go", BOOL, []), value("v_in", FLOAT, [2, 3])],
                 [value("go_on", BOOL, []), value("v_out", FLOAT, [2, 3])])
    return Graph([node("Loop", "n yes x", "v", "loop", body=body), node("Neg", "v", "y", "neg")],
                 [x3], [y3], n=numpy.array(3), yes=numpy.array(True), one=f(1), second=numpy.array(1))


def with_scan():
    body = Graph([node("Add", "s e", "s_out", "sum"), node("Div", "e s", "e_out", "ratio")],
                 [value("s", FLOAT, [3]), value("e", FLOAT, [3])], [value("s_out", FLOAT, [3]), value("e_out", FLOAT, [3])])
    return Graph([node("Scan", "zero x", "total y", "scan", body=body, num_scan_inputs=1)],
                 [x3], [value("total", FLOAT, [3]), y3], zero=f(0, 0, 0))


gelu = [node("Div", "m root2", "g1", "g_div"), node("Erf", "g1", "g2", "g_erf"), node("Add", "g2 one", "g3", "g_add"),
        node("Mul", "m g3", "g4", "g_mul"), node("Mul", "g4 half", "y", "g_half")]
gelu_held = {"root2": f(1.41421356), "one": f(1), "half": f(0.5)}
ones = {"w": numpy.ones((3, 3), float32)}
huge = {"w": numpy.full((3, 3), 3e38, float32)}
bad_weight = {"w": numpy.array([[1, 0, 0], [0, float("nan"), 0], [0, 0, 1]], float32)}
norm = {"scale": f(1, 1, 1), "bias": f(0, 0, 0), "mean": f(0, 0, 0), "variance": f(1, -1, 1)}

MODELS = {
    "log": (chain(node("Sub", "x c", "s", "sub"), node("Log", "s", "l", "/blk.0/Log"), node("Relu", "l", "y", "relu"), c=f(3)),
            plain, ("Log", "/blk.0/Log", "negative")),
    "div": (chain(node("Sub", "x x", "s", "sub"), node("Div", "s s", "d", "div"), node("Tanh", "d", "y", "tanh")),
            plain, ("Div", "div", "divides sub by itself")),
    "softmax": (chain(node("Where", "mask x low", "s", "mask_it"), node("Softmax", "s", "y", "soft"),
                      mask=numpy.array([[True, True, True], [False, False, False]]), low=f(float("-inf"))),
                plain, ("Softmax", "soft", "")),
    "exp": (chain(node("Mul", "x c", "m", "mul"), node("Exp", "m", "e", "exp"), node("Sub", "e e", "y", "sub"), c=f(40)),
            plain, ("Exp", "exp", "overflow")),
    "half": (Graph([node("Mul", "x c", "m", "mul"), node("Cast", "m", "h", "to_half", to=FLOAT16), node("Cast", "h", "y", "back", to=FLOAT)],
                   [x3], [y3], c=f(30000)), plain, ("Cast", "to_half", "")),
    "matmul": (chain(node("MatMul", "x w", "m", "mm"), node("Sigmoid", "m", "y", "sigmoid"), **huge), plain, ("MatMul", "mm", "range of float32")),
    "batch_norm": (Graph([node("BatchNormalization", "x scale bias mean variance", "n", "bn"), node("Relu", "n", "y", "relu")],
                         [x3], [y3], **norm), plain, ("BatchNormalization", "bn", "the variance, ")),
    "sqrt": (chain(node("Neg", "x", "n", "neg"), node("Sqrt", "n", "y", "root")), plain, ("Sqrt", "root", "negative")),
    "pow": (chain(node("Sub", "x c", "s", "sub"), node("Pow", "s p", "y", "pow"), c=f(2), p=f(-1)), plain, ("Pow", "pow", "")),
    "if": (with_if(), numpy.array([[0.5, 2, 3], [4, 5, 6]], float32), ("Sqrt", "choose/then_sqrt", "negative")),
    "loop": (with_loop(), numpy.array([[9, 9, 4], [9, 9, 9]], float32), ("Sqrt", "loop/root", "negative")),
    "quiet_loop": (with_quiet_loop(), numpy.array([[9, 2, 9], [9, 9, 9]], float32), ("Log", "loop/log", "")),
    "if_in_loop": (with_if_in_loop(), numpy.array([[9, 3, 9], [9, 9, 9]], float32), ("Log", "loop/choose/log", "1 zero")),
    "scan": (with_scan(), numpy.array([[1, 0, 1], [1, 1, 1]], float32), ("Div", "scan/ratio", "")),
    "sequence": (chain(node("Log", "x", "l", "log"), node("SequenceConstruct", "x l", "s", "both"),
                       node("SequenceAt", "s at", "a", "pick"), node("Relu", "a", "y", "relu"), at=numpy.array(1)),
                 numpy.array([[1, -2, 3], [4, 5, 6]], float32), ("Log", "log", "negative")),
    "split": (Graph([node("Sqrt", "x", "r", "root"), node("SplitToSequence", "r", "s", "cut", axis=0),
                     node("ConcatFromSequence", "s", "c", "join", axis=0), node("Relu", "c", "y", "relu")], [x3], [y3]),
              -plain, ("Sqrt", "root", "negative")),
    "gelu": (Graph([node("MatMul", "x w", "m", "mm")] + gelu, [x3], [y3], **huge, **gelu_held), plain,
             ("MatMul", "mm", "range of float32")),
    "gemm": (Graph([node("MatMul", "x w", "m", "mm"), node("Add", "m b", "s", "add"), node("Log", "s", "y", "log")], [x3], [y3], **ones, b=f(-20, 0, 0)),
             plain, ("Log", "log", "negative")),
    "gemm_overflow": (Graph([node("MatMul", "x w", "m", "mm"), node("Add", "m b", "s", "add"), node("Relu", "s", "y", "relu")], [x3], [y3], **huge, b=f(1, 1, 1)),
                      plain, ("MatMul", "mm", "range of float32"), ("FusedGemm", "fused mm/MatMulAddFusion", "range of float32")),
    "initialiser": (chain(node("MatMul", "x w", "m", "mm"), node("Relu", "m", "y", "relu"), **bad_weight), plain, ("Const", "w", "")),
    "input": (chain(node("Add", "x c", "a", "add"), node("Relu", "a", "y", "relu"), c=f(1)),
              numpy.array([[1, float("nan"), 3], [4, 5, 6]], float32), ("Placeholder", "x", "")),
    "two_branches": (Graph([node("Abs", "x", "p", "left"), node("Neg", "x", "n", "right"), node("Log", "p", "a", "left_log"),
                            node("Log", "n", "b", "right_log"), node("Max", "a b", "y", "join")], [x3], [y3]),
                     plain, ("Log", "right_log", "negative")),
    # What comes in as integers has no row, and is no NaN.
    "loss": (Graph([node("LogSoftmax", "x", "l", "log_softmax"), node("NegativeLogLikelihoodLoss", "l target weight", "y", "loss")],
                   [x3, value("target", INT64, [2])], [value("y", FLOAT, [])], weight=f(0, 1, 0)),
             {"x": plain, "target": numpy.array([0, 2])}, ("NegativeLogLikelihoodLoss", "loss", "weight has 2 zeros"), ("Div", "y", "0/0")),
    "picked": (Graph([node("Gather", "x ids", "g", "pick"), node("Log", "g", "y", "log")], [x3, value("ids", INT64, [2])], [y3]),
               {"x": -plain, "ids": numpy.array([1, 0])}, ("Log", "log", "negative")),
    "integer_axes": (Graph([node("ReduceSum", "x axes", "s", "sum"), node("Exp", "s", "y", "exp")], [x3, value("axes", INT64, [1])],
                           [value("y", FLOAT, [2, 1])]),
                     {"x": numpy.full((2, 3), 2e38, float32), "axes": numpy.array([1])}, ("ReduceSum", "sum", "range of float32")),
    "prelu": (chain(node("PRelu", "x slope", "p", "prelu"), node("Neg", "p", "y", "neg"), slope=f(1e20)),
              numpy.full((2, 3), -1e30, float32), ("PRelu", "prelu", "range of float32")),
    "squares": (Graph([node("ReduceSumSquare", "x", "s", "sum"), node("Neg", "s", "y", "neg")], [x3], [value("y", FLOAT, [1, 1])]),
                numpy.full((2, 3), -1e30, float32), ("ReduceSumSquare", "sum", "range of float32")),
    "clean": (chain(node("MatMul", "x w", "m", "mm"), node("Softmax", "m", "y"), **ones), plain, None),
    "late_loop": (with_loop(), numpy.full((2, 3), 300, float32), ("Sqrt", "loop/root", "negative")),
    "clean_loop": (with_loop(), numpy.full((2, 3), 1e30, float32), None),
}
