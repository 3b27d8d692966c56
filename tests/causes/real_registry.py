"""Registers programs the size of real ones, each with one culprit: an op type, and the lines that end in "# culprit".

EXPECTED is read by score_real.py; PROGRAMS is run by real_programs.py.
"""
import inspect
import types

EXPECTED = {}
PROGRAMS = {}
MODES = ("FULL_HEALTH", "CONCISE_HEALTH", "CURT_HEALTH")


def program(cause, share=0.9, causes=2, followers=0, ring=-1, unknown_in=()):
    """`cause`: op types that are right as the headline. At most `causes` different ones (op type and line) may be named, and as
    many as `followers` more that may follow from the headline, which must explain `share` of all bad tensors. `unknown_in`: modes
    in which the record really can't tell."""
    def register(function):
        name = function.__name__
        lines, first = inspect.getsourcelines(function)
        PROGRAMS[name] = types.SimpleNamespace(run=function, ring=ring)
        EXPECTED[name] = types.SimpleNamespace(
            causes=(cause,) if isinstance(cause, str) else tuple(cause), share=share, most=causes, followers=followers, ring=ring,
            unknown_in=tuple(unknown_in), file=inspect.getsourcefile(function),
            lines={first + i for i, line in enumerate(lines) if line.rstrip().endswith("# culprit")})
        return function
    return register


def descend(tape, loss, variables, rate=0.1):
    """A step of plain gradient descent."""
    for variable, gradient in zip(variables, tape.gradient(loss, variables)):
        variable.assign_sub(rate * gradient)
