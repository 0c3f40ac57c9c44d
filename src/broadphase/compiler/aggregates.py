"""Keeps LLVM's structs and tuples as lists of fields until memory or a call needs them as one value.

Numba emits about forty instructions for ``a[i, 0]``.  Most of them build the struct of an array and take it
apart again, and LLVM needs several passes to remove them.  Here, a struct whose fields are known is a
`Fields` object, and reading one of its fields emits no instruction: the LLVM IR of a box query of cells has
146,000 characters with this, and 531,000 without.
"""

import operator
from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.extending import register_model

from broadphase.compiler.numba_checks import original, overrides
from broadphase.compiler.types import kind_of


class Fields:
    """A struct or an array of LLVM whose fields are known, without instructions that build it."""

    __slots__ = ("type", "values")

    def __init__(self, kind: Any, values: Sequence[Any]) -> None:
        self.type, self.values = kind, values


def _fields_of(aggregate: Any) -> Sequence[Any] | None:
    """The fields of a struct, if they are known."""
    if type(aggregate) is Fields:
        return aggregate.values
    if type(aggregate) is ir.Constant:
        constant = aggregate.constant
        if constant is ir.Undefined or constant is None:
            return [ir.Constant(kind, constant) for kind in aggregate.type.elements]
        if isinstance(constant, (list, tuple)):
            return constant
    return None


def integer(value: Any) -> int | None:
    """The number, if it is a constant."""
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


class _Phi(ir.PhiInstr):
    """A phi instruction that takes `Fields`."""

    def add_incoming(self, value: Any, block: Any) -> None:
        if type(value) is Fields:
            builder = Builder(block)
            if block.is_terminated:
                builder.position_before(block.terminator)
            value = builder.whole(value)
        super().add_incoming(value, block)


class Builder(ir.IRBuilder):
    """llvmlite's builder; it also accepts `Fields`, and emits no instruction whose result is known."""

    def whole(self, value: Any) -> Any:
        """The value in a form that instructions accept."""
        if type(value) is not Fields:
            return value
        whole = ir.Constant(value.type, ir.Undefined)
        for k, field in enumerate(value.values):
            if not (type(field) is ir.Constant and field.constant is ir.Undefined):
                whole = super().insert_value(whole, self.whole(field), k)
        return whole

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        path = _path(idx)
        while path:
            fields = _fields_of(agg)
            if fields is None:
                return super().extract_value(agg, path, name)
            agg, path = fields[path[0]], path[1:]
        return agg

    def insert_value(self, agg: Any, value: Any, idx: Any, name: str = "") -> Any:
        path = _path(idx)
        fields = _fields_of(agg)
        if fields is None:
            return super().insert_value(agg, self.whole(value), path, name)
        fields = list(fields)
        if len(path) > 1:
            value = self.insert_value(fields[path[0]], value, path[1:])
        if value.type != agg.type.elements[path[0]]:
            raise TypeError(f"{value.type} is not field {path} of {agg.type}")
        fields[path[0]] = value
        return Fields(agg.type, fields)

    def store(self, value: Any, ptr: Any, align: int | None = None) -> Any:
        return super().store(self.whole(value), ptr, align)

    def ret(self, value: Any) -> Any:
        return super().ret(self.whole(value))

    def call(self, fn: Any, args: Sequence[Any], *more: Any, **named: Any) -> Any:
        return super().call(fn, [self.whole(argument) for argument in args], *more, **named)

    def phi(self, typ: Any, name: str = "", flags: Sequence[str] = ()) -> Any:
        made = _Phi(self.block, typ, name=name, flags=flags)
        self._insert(made)
        return made

    def select(self, cond: Any, lhs: Any, rhs: Any, name: str = "", flags: Sequence[str] = ()) -> Any:
        known = integer(cond)
        if known is not None:
            return lhs if known else rhs
        return super().select(cond, self.whole(lhs), self.whole(rhs), name, flags)

    def add(self, lhs: Any, rhs: Any, name: str = "", flags: Sequence[str] = ()) -> Any:
        if integer(lhs) == 0:
            return rhs
        if integer(rhs) == 0:
            return lhs
        return super().add(lhs, rhs, name, flags)

    def mul(self, lhs: Any, rhs: Any, name: str = "", flags: Sequence[str] = ()) -> Any:
        if integer(lhs) == 1 or integer(rhs) == 0:
            return rhs
        if integer(rhs) == 1 or integer(lhs) == 0:
            return lhs
        return super().mul(lhs, rhs, name, flags)

    def smul_with_overflow(self, lhs: Any, rhs: Any, name: str = "") -> Any:
        if "wasm" not in str(self.module.triple):
            return super().smul_with_overflow(lhs, rhs, name)
        # There LLVM checks a product of 64 bits by one of 128, a function of a library that is not linked.
        # No array that a kernel makes is so large.
        no = ir.Constant(ir.IntType(1), 0)
        return Fields(ir.LiteralStructType([lhs.type, no.type]), [self.mul(lhs, rhs), no])

    def icmp_signed(self, cmpop: str, lhs: Any, rhs: Any, name: str = "") -> Any:
        first, second = integer(lhs), integer(rhs)
        if first is not None and second is not None:
            return ir.Constant(ir.IntType(1), int(_ORDERS[cmpop](first, second)))
        return super().icmp_signed(cmpop, lhs, rhs, name)


def known_struct_proxy(proxy: Any) -> Any:
    """A subclass of Numba's proxy of structs that needs no memory as long as the struct is only read."""
    for name, parameters in (
        ("__init__", "self context builder value ref"),
        ("__getattr__", "self field"),
        ("__getitem__", "self index"),
        ("_getvalue", "self"),
    ):
        original(proxy.__base__, name, parameters)

    class KnownStructProxy(proxy):
        def __init__(self, context: Any, builder: Any, value: Any = None, ref: Any = None) -> None:
            if value is None or ref is not None:
                super().__init__(context, builder, value, ref)
                return
            self._context, self._builder, self._known = context, builder, value
            self._datamodel = context.data_model_manager[self._fe_type]
            self._be_type = self._get_be_type(self._datamodel)
            block = builder.block
            self._made_behind = block, block.instructions[-1] if block.instructions else None

        def _put_into_memory(self) -> None:
            """Store the struct where it was made: a field is assigned, or its address is needed."""
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

        def __getattr__(self, field: str) -> Any:
            if field in ("_value", "_outer_ref"):
                self._put_into_memory()
                return self.__dict__[field]
            if field == "_known":
                return None
            return super().__getattr__(field)

        def __getitem__(self, index: int) -> Any:
            if self._known is not None:
                return self._builder.extract_value(self._known, index)
            return super().__getitem__(index)

        def _getvalue(self) -> Any:
            return self._known if self._known is not None else super()._getvalue()

    return KnownStructProxy


def make_array(array_type: Any) -> Any:
    """A proxy of an array's struct; Numba's own also loads each length to declare that it is positive."""
    return cgutils.create_struct_proxy(array_type.as_array)


_PASSED = ("meminfo", "parent", "data", "shape")


@overrides("get_argument_type", "as_argument", "from_argument")
class _ContiguousModel(models.ArrayModel):
    """Numba's model of arrays, for C-contiguous ones: fields that their lengths determine are not passed."""

    def _passed(self) -> dict[str, Any]:
        return {name: self._models[self.get_field_position(name)] for name in _PASSED}

    def get_argument_type(self) -> Any:
        return tuple(model.get_argument_type() for model in self._passed().values())

    def as_argument(self, builder: Any, value: Any) -> Any:
        return tuple(
            model.as_argument(builder, self.get(builder, value, name))
            for name, model in self._passed().items()
        )

    def from_argument(self, builder: Any, value: Any) -> Any:
        passed = zip(self._passed().items(), value, strict=True)
        fields = {name: model.from_argument(builder, one) for (name, model), one in passed}
        return array_of(self, builder, **fields)


def _array_model(manager: Any, kind: Any) -> Any:
    is_contiguous = kind.layout == "C" and kind.ndim > 0
    return (_ContiguousModel if is_contiguous else models.ArrayModel)(manager, kind)


@overrides("from_data")
class _BooleanModel(models.BooleanModel):
    """Numba's model of booleans; its own reads one from memory with a branch."""

    def from_data(self, builder: Any, value: Any) -> Any:
        return builder.icmp_unsigned("!=", value, value.type(0))


def array_of(model: Any, builder: Any, **fields: Any) -> Any:
    """The struct of a C-contiguous array; ``fields`` are all that its lengths do not determine."""
    kind = model._fe_type
    word = ir.IntType(64)
    lengths = cgutils.unpack_tuple(builder, fields["shape"], kind.ndim)
    width = ir.Constant(word, int(kind_of(kind.dtype)[1:]))
    strides, count = [width], lengths[0]
    for length in reversed(lengths[1:]):
        strides.insert(0, builder.mul(strides[0], length))
        count = builder.mul(count, length)
    fields |= {"nitems": count, "itemsize": width, "strides": cgutils.pack_array(builder, strides, word)}
    array: Any = ir.Constant(model.get_value_type(), ir.Undefined)
    for name, value in fields.items():
        array = builder.insert_value(array, value, model.get_field_position(name))
    return array


def register() -> None:
    """Register the models of arrays and booleans, before Numba looks one up."""
    register_model(types.Array)(_array_model)
    register_model(types.Boolean)(_BooleanModel)
    register_model(types.BooleanLiteral)(_BooleanModel)
