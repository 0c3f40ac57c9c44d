"""Structs and tuples of LLVM's language as lists of their parts, until memory or a call wants them whole.

Numba writes ``a[i, 0]`` as some forty instructions, most of which put an array together and take it apart
again; LLVM removes them, one pass after the other.  Where a struct's parts
are known when one of them is asked for, the part itself is what is used: a box asked of cells is 146,000
characters of LLVM's language then, and 531,000 without.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from llvmlite import ir
from numba.core import cgutils
from numba.core.datamodel import models
from numba.np import arrayobj

from broadphase.kernels.compiler.types import kind_of


class Parts:
    """A struct or an array of LLVM's language that no instruction has put together."""

    __slots__ = ("type", "values")

    def __init__(self, kind: Any, values: Sequence[Any]) -> None:
        self.type, self.values = kind, values


def _parts_of(aggregate: Any) -> Sequence[Any] | None:
    """Its parts, if they are known."""
    if type(aggregate) is Parts:
        return aggregate.values
    if type(aggregate) is ir.Constant:
        constant = aggregate.constant
        if constant is ir.Undefined or constant is None:
            return [ir.Constant(kind, constant) for kind in aggregate.type.elements]
        if isinstance(constant, (list, tuple)):
            return constant
    return None


def integer(value: Any) -> int | None:
    """The number, where it is one that is known."""
    if type(value) is ir.Constant and type(value.type) is ir.IntType:
        constant = value.constant
        return int(constant or 0) if constant is not ir.Undefined else None
    return None


def _path(index: Any) -> tuple[int, ...]:
    return tuple(index) if isinstance(index, (tuple, list)) else (index,)


_ORDERS = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}


class _Builder:
    """Methods that take the place of those of `llvmlite.ir.IRBuilder`, whose own are in `own`."""

    own: ClassVar[dict[str, Callable[..., Any]]] = {
        name: getattr(ir.IRBuilder, name)
        for name in (
            "extract_value",
            "insert_value",
            "store",
            "ret",
            "call",
            "select",
            "add",
            "mul",
            "icmp_signed",
        )
    }

    def whole(self, value: Any) -> Any:
        """A value that instructions can take."""
        if type(value) is not Parts:
            return value
        whole = ir.Constant(value.type, ir.Undefined)
        for k, part in enumerate(value.values):
            if not (type(part) is ir.Constant and part.constant is ir.Undefined):
                whole = _Builder.own["insert_value"](self, whole, _Builder.whole(self, part), k)
        return whole

    def extract_value(self, aggregate: Any, index: Any, name: str = "") -> Any:
        path = _path(index)
        while path:
            parts = _parts_of(aggregate)
            if parts is None:
                return _Builder.own["extract_value"](self, aggregate, path, name)
            aggregate, path = parts[path[0]], path[1:]
        return aggregate

    def insert_value(self, aggregate: Any, value: Any, index: Any, name: str = "") -> Any:
        path = _path(index)
        parts = _parts_of(aggregate)
        if parts is None:
            return _Builder.own["insert_value"](self, aggregate, _Builder.whole(self, value), path, name)
        parts = list(parts)
        if len(path) > 1:
            value = _Builder.insert_value(self, parts[path[0]], value, path[1:])
        if value.type != aggregate.type.elements[path[0]]:
            raise TypeError(f"{value.type} is no part {path} of {aggregate.type}")
        parts[path[0]] = value
        return Parts(aggregate.type, parts)

    def store(self, value: Any, place: Any, align: int | None = None) -> Any:
        return _Builder.own["store"](self, _Builder.whole(self, value), place, align)

    def ret(self, value: Any) -> Any:
        return _Builder.own["ret"](self, _Builder.whole(self, value))

    def call(self, function: Any, arguments: Sequence[Any], *more: Any, **named: Any) -> Any:
        whole = [_Builder.whole(self, argument) for argument in arguments]
        return _Builder.own["call"](self, function, whole, *more, **named)

    def select(self, condition: Any, yes: Any, no: Any, name: str = "", flags: Any = ()) -> Any:
        known = integer(condition)
        if known is not None:
            return yes if known else no
        yes, no = _Builder.whole(self, yes), _Builder.whole(self, no)
        return _Builder.own["select"](self, condition, yes, no, name, flags)

    def add(self, one: Any, other: Any, name: str = "", flags: Any = ()) -> Any:
        if integer(one) == 0:
            return other
        if integer(other) == 0:
            return one
        return _Builder.own["add"](self, one, other, name, flags)

    def mul(self, one: Any, other: Any, name: str = "", flags: Any = ()) -> Any:
        if integer(one) == 1 or integer(other) == 0:
            return other
        if integer(other) == 1 or integer(one) == 0:
            return one
        return _Builder.own["mul"](self, one, other, name, flags)

    def icmp_signed(self, order: str, one: Any, other: Any, name: str = "") -> Any:
        first, second = integer(one), integer(other)
        if first is not None and second is not None:
            return ir.Constant(ir.IntType(1), int(_ORDERS[order](first, second)))
        return _Builder.own["icmp_signed"](self, order, one, other, name)


def _add_incoming(add: Callable[..., None]) -> Callable[..., None]:
    def add_incoming(self: Any, value: Any, block: Any) -> None:
        if type(value) is Parts:
            builder = ir.IRBuilder(block)
            if block.is_terminated:
                builder.position_before(block.terminator)
            value = _Builder.whole(builder, value)
        add(self, value, block)

    return add_incoming


class _Proxy:
    """Methods of Numba's proxies of structs: one that is made of a value needs no memory to be read."""

    own: ClassVar[dict[str, Callable[..., Any]]] = {
        name: getattr(cgutils.ValueStructProxy, name)
        for name in ("__init__", "__getattr__", "__getitem__", "_getvalue")
    }

    def __init__(self: Any, context: Any, builder: Any, value: Any = None, ref: Any = None) -> None:
        if value is None or ref is not None:
            _Proxy.own["__init__"](self, context, builder, value, ref)
            return
        self._context, self._builder, self._known = context, builder, value
        self._datamodel = context.data_model_manager[self._fe_type]
        self._be_type = self._get_be_type(self._datamodel)
        block = builder.block
        self._made_behind = block, block.instructions[-1] if block.instructions else None

    def _put_into_memory(self: Any) -> None:
        """Do what would have been done when it was made: it is written to, or its address is wanted."""
        builder, (block, behind) = self._builder, self._made_behind
        with builder.goto_entry_block():
            place = builder.alloca(self._be_type)
        now = builder.block
        if behind is None:
            builder.position_at_start(block)
        else:
            builder.position_after(behind)
        builder.store(self._known, place)
        builder.position_at_end(now)
        self._known = None
        self._value = self._outer_ref = place

    def __getattr__(self: Any, field: str) -> Any:
        if field in ("_value", "_outer_ref"):
            _Proxy._put_into_memory(self)
            return self.__dict__[field]
        if field == "_known":
            return None
        return _Proxy.own["__getattr__"](self, field)

    def __getitem__(self: Any, index: int) -> Any:
        if self._known is not None:
            return self._builder.extract_value(self._known, index)
        return _Proxy.own["__getitem__"](self, index)

    def _getvalue(self: Any) -> Any:
        return self._known if self._known is not None else _Proxy.own["_getvalue"](self)


class _ArrayArguments:
    """Methods of the model of arrays: a C-contiguous one is passed without what its lengths say."""

    fields = ("meminfo", "parent", "data", "shape")

    def _models_passed(self: Any) -> list[Any]:
        return [self._models[self.get_field_position(name)] for name in _ArrayArguments.fields]

    def get_argument_type(self: Any) -> Any:
        return tuple(model.get_argument_type() for model in _ArrayArguments._models_passed(self))

    def as_argument(self: Any, builder: Any, value: Any) -> Any:
        return tuple(
            model.as_argument(builder, self.get(builder, value, name))
            for name, model in zip(_ArrayArguments.fields, _ArrayArguments._models_passed(self), strict=True)
        )

    def from_argument(self: Any, builder: Any, value: Any) -> Any:
        parts = {
            name: model.from_argument(builder, one)
            for name, model, one in zip(
                _ArrayArguments.fields, _ArrayArguments._models_passed(self), value, strict=True
            )
        }
        return array_of(self, builder, **parts)


def array_of(model: Any, builder: Any, **parts: Any) -> Any:
    """A C-contiguous array's struct; ``parts`` are all that its lengths do not say."""
    kind = model._fe_type
    word = ir.IntType(64)
    lengths = cgutils.unpack_tuple(builder, parts["shape"], kind.ndim)
    width = ir.Constant(word, int(kind_of(kind.dtype)[1:]))
    strides, count = [width], lengths[0]
    for length in reversed(lengths[1:]):
        strides.insert(0, builder.mul(strides[0], length))
        count = builder.mul(count, length)
    parts |= {"nitems": count, "itemsize": width, "strides": cgutils.pack_array(builder, strides, word)}
    array: Any = ir.Constant(model.get_value_type(), ir.Undefined)
    for name, value in parts.items():
        array = builder.insert_value(array, value, model.get_field_position(name))
    return array


def _for_c_contiguous(name: str) -> Callable[..., Any]:
    otherwise = getattr(models.ArrayModel, name)
    method = getattr(_ArrayArguments, name)

    def chosen(self: Any, *arguments: Any) -> Any:
        is_plain = self._fe_type.layout == "C" and self._fe_type.ndim > 0
        return (method if is_plain else otherwise)(self, *arguments)

    return chosen


def _make_array(array_type: Any) -> Any:
    """A proxy of an array's struct; Numba's own loads each length from memory, to say that it is positive."""
    return cgutils.create_struct_proxy(array_type.as_array)


def prepare() -> None:
    """Let Numba build LLVM's language in this way; once."""
    for name in _Builder.own:
        setattr(ir.IRBuilder, name, getattr(_Builder, name))
    for name in _Proxy.own:
        setattr(cgutils.ValueStructProxy, name, getattr(_Proxy, name))
    ir.PhiInstr.add_incoming = _add_incoming(ir.PhiInstr.add_incoming)
    # Numba's own is a branch for each bool.
    models.BooleanModel.from_data = lambda self, builder, value: builder.icmp_unsigned(
        "!=", value, value.type(0)
    )
    for name in ("get_argument_type", "as_argument", "from_argument"):
        setattr(models.ArrayModel, name, _for_c_contiguous(name))
    arrayobj.make_array = _make_array
