"""KeyboardInterrupt at each moment at which Python looks for signals.

That is where a function begins, a call ends, or a loop turns.
"""

import dis
import sys
from pathlib import Path

import broadphase

PACKAGE = str(Path(broadphase.__file__).parent)
LOOKS = ("RESUME", "CALL", "JUMP_BACKWARD", "POP_JUMP_BACKWARD")


class Interrupt:
    """``with Interrupt(k):`` raises at the k-th moment inside the package; ``hit`` says whether it came."""

    def __init__(self, k):
        self._left, self.hit = k, False
        self._before, self._names = {}, {}

    def __enter__(self):
        self._outer = sys.gettrace()
        sys.settrace(self._enter)
        return self

    def __exit__(self, *error):
        sys.settrace(self._outer)

    def _enter(self, frame, event, argument):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return self._outside
        frame.f_trace = self._step
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _outside(self, frame, event, argument):
        return self._outside

    def _step(self, frame, event, argument):
        if event == "return" and not frame.f_code.co_name.startswith("__"):
            # Python functions are not called through C: their caller continues without a check.
            self._before.pop(frame.f_back, None)
        elif event == "opcode":
            if self._before.get(frame, "").startswith(LOOKS) and not self.hit:
                if self._left == 0:
                    self.hit = True
                    raise KeyboardInterrupt
                self._left -= 1
            self._before[frame] = self._name(frame)
        return self._step

    def _name(self, frame):
        code = frame.f_code
        if code not in self._names:
            self._names[code] = {one.offset: one.opname for one in dis.get_instructions(code)}
        return self._names[code].get(frame.f_lasti, "")


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
