"""Distances of points, with a period or without, and the vector arithmetic for them."""

import math

import numpy as np

from broadphase.kernels.machine.jit import always_inline, inline
from broadphase.kernels.machine.mode import COMPILING
from broadphase.kernels.machine.simd import LANES, bits, count_lanes, load, mask_of, put_lanes, smaller, splat

# -----------------------------------------------------------------------------------------------------------
# The distance of two points, without overflow and underflow.
#
# Squares overflow and underflow long before the numbers do, so very large and very small differences are
# first multiplied by a power of two, which changes no digit.


@inline
def minimum_image(difference, period):
    """The difference of two coordinates to the nearest image; unchanged if two images are equally near."""
    # Both are computed: the sign is as good as random, and a wrong guess of it takes as long as all the rest.
    around = difference - (period if difference > 0 else -period)
    return around if abs(around) < abs(difference) else difference


@inline
def length(x, y, z, small, large, up, down):
    """The length of an offset, first scaled by ``up`` if below ``small``, by ``down`` if above ``large``."""
    largest = max(abs(x), abs(y), abs(z))
    if largest == 0 or largest == np.inf:
        return largest
    if small < largest < large:
        return math.sqrt(x * x + y * y + z * z)
    if largest <= small:
        x, y, z = x * up, y * up, z * up
        return math.sqrt(x * x + y * y + z * z) * down
    x, y, z = x * down, y * down, z * down
    return math.sqrt(x * x + y * y + z * z) * up


@inline
def step_to_nearest(along):
    """By how many vectors the nearest image is shifted, from the way along a vector; -1, 0 or 1."""
    return 0.0 - (along > 0.5) + (along < -0.5)


@inline
def folded_way(points, others, i, j, around):
    """The way from row ``i`` to the image of row ``j`` that is at most half of each lattice vector away.

    ``around`` is as in `broadphase.kernels.points.lattice`, and both points lie in the cell.
    """
    dim = points.shape[1]
    x, y, z = others[j, 0] - points[i, 0], others[j, 1] - points[i, 1], points.dtype.type(0)
    if dim == 3:
        z = others[j, dim - 1] - points[i, dim - 1]
    for k in range(dim):
        along = x * around[dim + k] + y * around[2 * dim + k] + z * around[dim * dim + k]
        step, at = points.dtype.type(step_to_nearest(along)), dim + (dim + k) * dim
        x, y = x + step * around[at], y + step * around[at + 1]
        if dim == 3:
            z += step * around[at + dim - 1]
    return x, y, z


@inline
def double_length(x, y, z):
    """The length of an offset in float64."""
    return length(x, y, z, 2.0**-200, 2.0**500, 2.0**600, 2.0**-600)


@always_inline
def distance_along(x, y, z, points):
    """The length of a way, in the type of the points."""
    kind = points.dtype.type
    small, large = kind(2.0**-30), kind(2.0**60)
    up, down = kind(2.0**92), kind(2.0**-92)
    if points.itemsize == 8:
        small, large = kind(2.0**-200), kind(2.0**500)
        up, down = kind(2.0**600), kind(2.0**-600)
    # As Python, `math.sqrt` returns a float64 of float32 too.
    return kind(length(x, y, z, small, large, up, down))


@always_inline
def distance(points, others, i, j, around):
    """The distance from row ``i`` to row ``j`` of the others; in a lattice along folded ways."""
    dim = points.shape[1]
    if around.shape[0] > 3:
        x, y, z = folded_way(points, others, i, j, around)
        return distance_along(x, y, z, points)
    x = minimum_image(others[j, 0] - points[i, 0], around[0])
    y = minimum_image(others[j, 1] - points[i, 1], around[1])
    z = points.dtype.type(0)
    if dim == 3:
        z = minimum_image(others[j, dim - 1] - points[i, dim - 1], around[dim - 1])
    return distance_along(x, y, z, points)


@inline
def take_place(values, around, point):
    """Write one point, rounded as the others are, into a row; whether it is finite and within the world."""
    if len(values) != point.shape[1]:
        return False
    within = True
    for axis in range(len(values)):
        place = point.dtype.type(values[axis])
        point[0, axis] = place
        within &= (0 <= place <= around[axis]) if around[axis] < np.inf else abs(place) < np.inf
    return within


# -----------------------------------------------------------------------------------------------------------
# Arithmetic on vectors of `LANES` numbers, in addition to `broadphase.kernels.machine.simd`.
#
# As there, each function is plain Python, and the compiler uses another implementation of it, below.


def times(a, b):
    """The products, lane by lane."""
    return a * b


def over(a, b):
    """The quotients, lane by lane."""
    return a / b


def plus(a, b):
    """The sums, lane by lane."""
    return a + b


def root(a):
    """The square roots, rounded as IEEE says."""
    return np.sqrt(a)


def size(a):
    """The numbers without their signs."""
    return np.abs(a)


def chosen(mask, a, b):
    """The lanes of ``a`` that are in the mask, and the others of ``b``."""
    return np.where(mask, a, b)


def smallest(a):
    """The least of the lanes, which are float32, not negative and not NaN."""
    return a.min()


def put_floats(out, row, at, vector, mask):
    """Write the floats of the lanes in ``mask`` contiguously to ``out[row, at:]``.

    `LANES` numbers from ``at`` are overwritten, and for float64 up to half as many after them.
    """
    chosen = vector[mask]
    out[row, at : at + len(chosen)] = chosen


if COMPILING:
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    from broadphase.kernels.machine.intrinsics import _BITS, _I32, _I64, _address, _compress, _llvm_type

    def _two(name):
        @intrinsic
        def operation(typingctx, a, b):
            def codegen(context, builder, signature, args):
                return getattr(builder, name)(*args)

            return a(a, b), codegen

        return operation

    def _one(name):
        @intrinsic
        def operation(typingctx, a):
            def codegen(context, builder, signature, args):
                kind = _llvm_type(a)
                short = f"v{LANES}f{a.dtype.bitwidth}"
                function = builder.module.declare_intrinsic(
                    f"llvm.{name}.{short}", (), ir.FunctionType(kind, [kind])
                )
                return builder.call(function, args)

            return a(a), codegen

        return operation

    times, over, plus = _two("fmul"), _two("fdiv"), _two("fadd")
    root, size = _one("sqrt"), _one("fabs")

    @intrinsic
    def chosen(typingctx, mask, a, b):  # noqa: D103 - as above
        def codegen(context, builder, signature, args):
            return builder.select(*args)

        return a(mask, a, b), codegen

    @intrinsic
    def smallest(typingctx, a):  # noqa: D103 - as above; as integers, which are in the same order
        def codegen(context, builder, signature, args):
            words = ir.VectorType(_I32, LANES)
            function = builder.module.declare_intrinsic(
                f"llvm.vector.reduce.umin.v{LANES}i32", (), ir.FunctionType(_I32, [words])
            )
            least = builder.call(function, [builder.bitcast(args[0], words)])
            return builder.bitcast(least, ir.FloatType())

        return types.float32(a), codegen

    @intrinsic
    def put_floats(  # noqa: D103 - what its namesake says
        typingctx, out, row, at, vector, mask
    ):
        words = ir.VectorType(_I32, LANES)

        def put(context, builder, signature, place, vector, mask):
            out, row, at = place
            begin = _address(context, builder, signature.args[0], out, row, at, words)
            together = _compress(builder, builder.bitcast(vector, words), mask)
            builder.store(together, begin, align=4)

        def codegen(context, builder, signature, args):
            out, row, at, floats, mask = args
            if vector.dtype == types.float32:
                put(context, builder, signature, (out, row, at), floats, mask)
                return context.get_dummy_value()
            # Half of the doubles fill a register; each is moved as two words with one bit of the mask.
            for half in range(2):
                lanes = list(range(half * LANES // 2, (half + 1) * LANES // 2))
                some = builder.shuffle_vector(
                    floats, floats, ir.Constant(ir.VectorType(_I32, len(lanes)), lanes)
                )
                twice = [lane for lane in lanes for _ in range(2)]
                wide = builder.shuffle_vector(mask, mask, ir.Constant(words, twice))
                put(context, builder, signature, (out, row, at), some, wide)
                number = builder.zext(builder.ctpop(builder.bitcast(wide, _BITS)), _I64)
                at = builder.add(at, builder.lshr(number, ir.Constant(_I64, 1)))
            return context.get_dummy_value()

        return types.none(out, types.intp, types.intp, vector, mask), codegen


@always_inline
def gaps(columns, axis, at, place, around):
    """How far `LANES` points are from a place on one axis, the shorter way around."""
    gap = size(load(columns, axis, at) - splat(place))
    return smaller(gap, splat(around) - gap) if around < np.inf else gap


@always_inline
def squares_of_ways(columns, at, points, i, around):
    """The squares of the ways from row ``i`` to `LANES` points, with a period or without."""
    squares = splat(columns.dtype.type(0))
    for axis in range(columns.shape[0]):
        gap = gaps(columns, axis, at, points[i, axis], around[axis])
        squares = plus(squares, times(gap, gap))
    return squares


@always_inline
def put_hits(near, left, squares, numbers, out, ids, at):
    """Append the ``near`` ones of the first ``left`` lanes to ``out`` and ``ids``; returns the new end."""
    hits = bits(near)
    if left < LANES:
        hits &= (1 << left) - 1
    if hits != 0:
        mask = mask_of(hits)
        put_floats(out, 0, at, squares, mask)
        put_lanes(ids, 0, at, numbers, mask)
        at += count_lanes(hits)
    return at
