"""KeyboardInterrupt, or another thread's work, at each moment at which Python looks for signals.

That is where a function begins, a call ends (also before its result has a name), or a loop turns; and where
NumPy converts a sequence of Python: ``array[k] = (x, y)`` looks for signals before anything is written.
"""

import ast
import dis
import gc
import signal
import sys
from functools import cache
from pathlib import Path

import numpy as np

import broadphase

PACKAGE = str(Path(broadphase.__file__).parent)
LOOKS = ("RESUME", "CALL", "JUMP_BACKWARD", "POP_JUMP_BACKWARD")
STORES = ("STORE_SUBSCR", "STORE_SLICE")
SEQUENCES = (tuple, list, str, bytes, range)


def stop():
    """What Ctrl-C does."""
    raise KeyboardInterrupt


def call_interrupted(call, seconds):
    """Call it, and let a signal raise KeyboardInterrupt after this time.

    The timer starts in here, where the test awaits the exception: a busy machine may take that long to come
    here.  No garbage is collected: what Hypothesis does after a collection would swallow the exception.
    """
    before = signal.signal(signal.SIGALRM, lambda *_: stop())
    gc.disable()
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        return call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        gc.enable()
        signal.signal(signal.SIGALRM, before)


class Interrupt:
    """``with Interrupt(k):`` stops at the k-th moment inside the package; ``hit`` says whether it came.

    ``act`` is what happens at that moment instead; ``inside`` the files and folders where moments count.
    """

    def __init__(self, k, act=stop, inside=(PACKAGE,)):
        self._left, self._act, self.hit = k, act, False
        self._inside = inside
        self._before = {}

    def __enter__(self):
        self._outer = sys.gettrace()
        sys.settrace(self._enter)
        return self

    def __exit__(self, *error):
        sys.settrace(self._outer)

    def _enter(self, frame, event, argument):
        if not frame.f_code.co_filename.startswith(self._inside):
            return self._outside
        frame.f_trace = self._step
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _outside(self, frame, event, argument):
        return self._outside

    def _step(self, frame, event, argument):
        if event == "opcode" and not self.hit:
            name = names_of(frame.f_code).get(frame.f_lasti, "")
            if self._before.get(frame, "").startswith(LOOKS):
                self._look()
            if name in STORES and not self.hit and converts(frame):
                self._look()
            self._before[frame] = name
        return self._step

    def _look(self):
        if self._left == 0:
            self.hit = True
            self._act()
        self._left -= 1


@cache
def names_of(code):
    """The name of each instruction by its offset."""
    return {one.offset: one.opname for one in dis.get_instructions(code)}


def converts(frame):
    """Whether the instruction that comes next writes a sequence into an array, or at a list of places."""
    if not frame.f_code.co_filename.startswith(PACKAGE):
        return False
    place = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    store = stores_of(frame.f_code.co_filename).get(place)
    if store is None:
        return False
    target, place, value = (evaluated(part, frame) for part in store)
    return isinstance(target, np.ndarray) and (isinstance(value, SEQUENCES) or isinstance(place, list))


@cache
def stores_of(path):
    """By the place of each ``a[b] = c`` in a file: a, b and c."""
    found = {}
    for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                found.update(stores_in(target, node.value))
    return found


def stores_in(target, value):
    """The same of one target, or of several that a tuple is unpacked into."""
    if isinstance(target, ast.Tuple):
        values = getattr(value, "elts", ())
        if len(values) != len(target.elts):
            values = [ast.Constant(0.0)] * len(target.elts)  # what each one gets is not in the source
        each = map(stores_in, target.elts, values)
        return {place: store for stores in each for place, store in stores.items()}
    if not isinstance(target, ast.Subscript):
        return {}
    place = target.lineno, target.end_lineno, target.col_offset, target.end_col_offset
    return {place: (target.value, target.slice, value)}


def evaluated(node, frame):
    """The value of an expression in a frame; None where that would call something."""
    if isinstance(node, ast.Tuple):
        return tuple(evaluated(one, frame) for one in node.elts)
    if isinstance(node, ast.List):
        return []
    if any(isinstance(part, ast.Call | ast.Slice | ast.NamedExpr | ast.Starred) for part in ast.walk(node)):
        return None
    return eval(
        compile(ast.fix_missing_locations(ast.Expression(node)), "", "eval"), frame.f_globals, frame.f_locals
    )


def moments(call, ready, each, step=1):
    """Call ``call(ready())`` repeatedly, interrupted at one moment after another; yield what ``ready`` made.

    With ``each`` at every moment, or at each ``step``-th; else later on at fewer of them.
    """
    k = 0
    while True:
        made = ready()
        try:
            with Interrupt(k) as interrupt:
                call(made)
        except KeyboardInterrupt:
            pass
        if not interrupt.hit:
            break
        yield k, made
        k += step if each else 3 + 2 * k
    assert k > 0, "it was never interrupted"
