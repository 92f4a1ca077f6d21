"""Arrays of structs in compiled code: C-contiguous, without reference counts.

Numba's own code for an element of an array is some forty instructions before it is optimised, since
an array may have any strides; here it is ten, which halves the code.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin, lower_cast
from numba.extending import register_model
from numba.np import arrayobj

ARRAY_MEMBERS = ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")


class Field(types.Array):
    """The type of an array in a struct, of its rows and of their slices."""

    def __init__(self, dtype: types.Type, ndim: int) -> None:
        super().__init__(dtype, ndim, "C", name=f"field({dtype}, {ndim}d)")

    def copy(self, *given: Any, **named: Any) -> types.Array:
        """Return the type with other dimensions: a `Field` if it is contiguous."""
        base = super().copy(*given, **named)
        return Field(base.dtype, base.ndim) if base.layout == "C" and base.mutable else base

    def unify(self, context: Any, other: Any) -> Any:
        """Return the common type of two types."""
        return self if self == other else super().unify(context, other)


@register_model(Field)
class _FieldModel(models.ArrayModel):
    pass


def made(context: Any, builder: Any, kind: types.Array, data: Any, shape: list[Any]) -> Any:
    """Return a contiguous array of the numbers at an address."""
    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    word = context.get_value_type(types.intp)
    strides, count = [word(size)], shape[0]
    for extent in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], extent))
    for extent in shape[1:]:
        count = builder.mul(count, extent)
    values = {
        "nitems": count,
        "itemsize": word(size),
        "data": data,
        "shape": cgutils.pack_array(builder, shape),
        "strides": cgutils.pack_array(builder, strides),
    }
    array = ir.Constant(context.get_value_type(kind), ir.Undefined)
    for k, name in enumerate(ARRAY_MEMBERS):
        value = values.get(name, ir.Constant(array.type.elements[k], None))  # null: no owner
        array = builder.insert_value(array, value, k)
    return array


def _place(context: Any, builder: Any, kind: Field, array: Any, kinds: Any, indices: Any) -> Any:
    """Return the address of an element, or of a row's first one, and the row's shape."""
    shape = builder.extract_value(array, ARRAY_MEMBERS.index("shape"))
    extents, at = cgutils.unpack_tuple(builder, shape, kind.ndim), None
    for k, extent in enumerate(extents):
        at = at if at is None else builder.mul(at, extent)
        if k < len(indices):
            index_type = types.intp if kinds[k].signed else types.uintp
            index = context.cast(builder, indices[k], kinds[k], index_type)
            counted = isinstance(index, ir.Constant) and index.constant >= 0
            if index_type.signed and not counted:
                behind = builder.icmp_signed("<", index, index.type(0))
                index = builder.select(behind, builder.add(index, extent), index)
            at = index if at is None else builder.add(at, index)
    data = builder.extract_value(array, ARRAY_MEMBERS.index("data"))
    return builder.gep(data, [at]), extents[len(indices) :]


def _plain(context: Any, builder: Any, kind: types.Type, index: Any) -> Any:
    """Return the types and values of indices if all are integers, else empty tuples."""
    kinds = tuple(kind.types) if isinstance(kind, types.BaseTuple) else (kind,)
    if context.enable_boundscheck or not all(
        isinstance(index_kind, types.Integer) for index_kind in kinds
    ):
        return (), ()
    if not isinstance(kind, types.BaseTuple):
        return kinds, (index,)
    return kinds, cgutils.unpack_tuple(builder, index, len(kinds))


def _get(context: Any, builder: Any, sig: Any, args: Any, otherwise: Any) -> Any:
    kinds, indices = _plain(context, builder, sig.args[1], args[1])
    if not kinds:
        return otherwise(context, builder, sig, args)
    where, shape = _place(context, builder, sig.args[0], args[0], kinds, indices)
    if shape:
        return made(context, builder, sig.return_type, where, shape)
    return arrayobj.load_item(context, builder, sig.args[0], where)


@lower_builtin(operator.getitem, Field, types.Integer)
def _get_one(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _get(context, builder, sig, args, arrayobj.getitem_arraynd_intp)


@lower_builtin(operator.getitem, Field, types.BaseTuple)
def _get_of_tuple(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _get(context, builder, sig, args, arrayobj.getitem_array_tuple)


@lower_builtin(operator.setitem, Field, types.Any, types.Any)
def _set(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind, index, of_value = sig.args
    kinds, indices = _plain(context, builder, index, args[1])
    if len(kinds) != kind.ndim:
        return arrayobj.setitem_array(context, builder, sig, args)
    where, _ = _place(context, builder, kind, args[0], kinds, indices)
    value = context.cast(builder, args[2], of_value, kind.dtype)
    arrayobj.store_item(context, builder, kind, value, where)


@lower_cast(Field, types.Array)
def _as_array(context: Any, builder: Any, fromty: Any, toty: Any, val: Any) -> Any:
    return val
