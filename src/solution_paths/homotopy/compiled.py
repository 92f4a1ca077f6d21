"""Compilation of the homotopy's functions, and the memory that they share.

Lean functions don't count references: numba would count one for each array passed on, which costs
more than the work on a short row. Such a function must not create arrays.

A `struct` is passed as one address; a tuple of arrays would be taken apart at each call.
"""

from __future__ import annotations

import ctypes
import dataclasses
import hashlib
from numbers import Real
from typing import Annotated, Any, TypeVar, dataclass_transform, get_args, get_type_hints

import numpy as np
from llvmlite import ir
from numba import from_dtype, types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.errors import TypingError
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    register_model,
    unbox,
)
from numba.np.numpy_support import as_dtype
from numpy.typing import NDArray

from ..compilation import SOURCES, cached_njit, inner_njit
from . import fields, tolerances
from .fields import Field, made

SOURCES.update((__file__, fields.__file__, tolerances.__file__))
entry = cached_njit(slow=True, _nrt=False)
lean = inner_njit(_nrt=False)
sums = inner_njit(_nrt=False, fastmath=True)  # terms may be added up in any order
inline = inner_njit(_nrt=False, forceinline=True)


@intrinsic
def fma(typing, a, b, c):
    """Return a * b + c, rounded once."""

    def generate(context, builder, signature, arguments):
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


@intrinsic
def four_sums(typing, x, high, low, m):
    """Return four sums of x (high + low) over every fourth number, each in two parts.

    The sums are those of `twofold.accumulate`, in one vector, as no compiler may reorder them. The
    number m of terms is a multiple of 4. First come the sums, then their second parts.
    """
    if any(array.layout != "C" for array in (x, high, low)):
        raise TypingError("four_sums needs contiguous arrays")
    four = ir.VectorType(ir.DoubleType(), 4)

    def generate(context, builder, signature, arguments):
        def load(array, k):
            place = builder.bitcast(builder.gep(array.data, [k]), four.as_pointer())
            numbers = builder.load(place)
            numbers.align = 8
            return numbers

        arrays = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args[:3], arguments[:3], strict=True)
        ]
        fused = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(four, [four] * 3), "llvm.fma.v4f64"
        )
        zero = ir.Constant(four, [0.0] * 4)
        sums, rests = (cgutils.alloca_once_value(builder, zero) for _ in range(2))
        word, count = arguments[3].type, arguments[3]
        steps = cgutils.for_range_slice(builder, word(0), count, word(4), word)
        with steps as (k, _):
            x, high, low = (load(array, k) for array in arrays)
            p, s = builder.fmul(x, high), builder.load(sums)
            e = builder.call(fused, [x, high, builder.fneg(p)])
            total = builder.fadd(s, p)
            z = builder.fsub(total, s)
            d = builder.fadd(builder.fsub(s, builder.fsub(total, z)), builder.fsub(p, z))
            e = builder.fadd(d, builder.fadd(e, builder.fmul(x, low)))
            builder.store(total, sums)
            builder.store(builder.fadd(builder.load(rests), e), rests)
        parts = [
            builder.extract_element(builder.load(numbers), ir.Constant(ir.IntType(32), lane))
            for numbers in (sums, rests)
            for lane in range(4)
        ]
        return context.make_tuple(builder, signature.return_type, parts)

    return types.UniTuple(types.float64, 8)(x, high, low, types.int64), generate


# Fields of a struct: C-contiguous arrays with so many dimensions.
Vector = Annotated[NDArray[np.float64], 1]
Matrix = Annotated[NDArray[np.float64], 2]
Tables = Annotated[NDArray[np.float64], 3]
Indices = Annotated[NDArray[np.int64], 1]
Bytes = Annotated[NDArray[np.int8], 1]
Flags = Annotated[NDArray[np.int8], 2]
WORD = ir.IntType(64)
_addressof, _byte_of = ctypes.addressof, ctypes.c_char.from_buffer
R = TypeVar("R")


class Record(np.void):
    """A structured scalar with its fields as attributes, three times as fast as `np.record`."""

    def __getattr__(self, name):
        try:
            return self[name]
        except ValueError:
            raise AttributeError(f"a record has no field {name!r}") from None

    def __setattr__(self, name, value):
        self[name] = value


def record(cls: type) -> type:
    """Make a class of annotated numbers a record, which compiled code reads and writes by name."""
    hints = get_type_hints(cls)
    taken = [name for name in hints if hasattr(np.void, name)]
    if taken:
        raise TypeError(
            f"{cls.__name__}.{taken[0]} is a name that numpy's records use; take another."
        )
    numbers = [(name, np.int64 if hint is int else np.float64) for name, hint in hints.items()]
    cls.dtype = np.dtype((Record, np.dtype(numbers, align=True)))
    return cls


def new(cls: type[R], **numbers: float) -> R:
    """Return a record of zeros, but for the numbers given."""
    numbers_record = np.zeros(cls.dtype.itemsize // 8, np.int64).view(cls.dtype)[0]
    for name, number in numbers.items():
        numbers_record[name] = number
    return numbers_record


@dataclass_transform(frozen_default=True)
def struct(cls: type) -> type:
    """Make a frozen dataclass of numbers, arrays, records and structs, passed as one address.

    An instance keeps its arrays alive, and a table of words that compiled code reads: a number, the
    address of a record or of another struct, or an array's address and shape. The table never
    changes, so that loops may keep its words in registers.
    """
    hints = get_type_hints(cls, include_extras=True)
    fields = tuple((name, _field_type(hint)) for name, hint in hints.items())
    cls._numba_type_ = StructType(cls.__qualname__, fields)
    cls.__post_init__ = _write_words
    return dataclasses.dataclass(frozen=True, eq=False)(cls)


def _field_type(hint) -> types.Type:
    """Return a field's numba type.

    Fields are int, float, Annotated[NDArray[dtype], dimensions], a record's class or a struct's.
    """
    if hint in (int, float):
        return types.int64 if hint is int else types.float64
    if hasattr(hint, "_numba_type_"):
        return hint._numba_type_
    if isinstance(getattr(hint, "dtype", None), np.dtype):
        return from_dtype(hint.dtype)
    array, dimensions = get_args(hint)
    dtype = get_args(get_args(array)[1])[0]
    return Field(from_dtype(np.dtype(dtype)), dimensions)


def _write_words(self) -> None:
    """Write the table that compiled code reads."""
    table, values = [], vars(self)
    for name, ndim, dtype in self._numba_type_.plain:
        table += _words(self, name, ndim, dtype, values[name])
    values["words"] = np.array(table, dtype=np.int64)
    values["address"] = _address(values["words"])


def altered(old: R, **changed: Any) -> R:
    """Return a struct with other values in some fields, as `dataclasses.replace` does.

    Only the words of these fields are written.
    """
    kind, new_struct = old._numba_type_, object.__new__(type(old))
    values = vars(new_struct)
    values.update(vars(old))
    values.update(changed)
    words = values["words"] = values["words"].copy()
    for name, ndim, dtype in kind.plain:
        if name in changed:
            first = kind.position[name]
            words[first : first + 1 + ndim] = _words(new_struct, name, ndim, dtype, changed[name])
    values["address"] = _address(words)
    return new_struct


def _words(self, name, ndim, dtype, value) -> list[int]:
    """Return a field as words: see `struct`."""
    if not ndim:
        return [_word(self, name, dtype, value)]
    if value.dtype is not dtype or value.ndim != ndim or not value.flags.c_contiguous:
        _check_array(self, name, ndim, dtype, value)
    return [_address(value), *value.shape]


def _word(self, name, dtype, value) -> int:
    """Return a number, or the address of a record or a struct, as 64 bits."""
    if dtype is None:
        return value.address
    if dtype.names:
        return _address(value.base.base)  # the words behind it, see `new`
    if type(value) is not float and not isinstance(value, Real):
        owner = type(self).__name__
        raise ValueError(f"{owner}.{name} must be a number, not {value!r}; pass one.")
    return int(value) if dtype.kind == "i" else np.float64(value).view(np.int64)


def _address(array) -> int:
    """Return the address of an array's numbers, 0 if it has none."""
    if not array.size:
        return 0
    try:
        return _addressof(_byte_of(array))
    except TypeError:  # a read-only array
        return array.ctypes.data  # five times slower


def _check_array(self, name, ndim, dtype, value) -> None:
    """Raise an error for an array that compiled code would misread."""
    if value.ndim != ndim or value.dtype != dtype or not value.flags.c_contiguous:
        raise TypeError(
            f"{type(self).__name__}.{name} must be a C-contiguous array of {ndim} dimensions of "
            f"{dtype}, got {value.dtype} of shape {value.shape} and strides {value.strides}."
        )


class StructType(types.Type):
    """The address of a struct's table."""

    def __init__(self, name, fields):
        self.fields = fields
        self.kinds = dict(fields)
        self.position, position = {}, 0
        # (name, dimensions, numpy's dtype, of a struct none): numba's types are slow to compare
        self.plain = []
        for field, kind in fields:
            self.position[field] = position
            ndim = kind.ndim if isinstance(kind, types.Array) else 0
            inner = isinstance(kind, StructType)
            self.plain.append(
                (field, ndim, None if inner else as_dtype(kind.dtype if ndim else kind))
            )
            position += 1 + ndim
        described = ", ".join(f"{field}: {kind}" for field, kind in fields)
        # short, as it is a part of the name of each compiled function and of each call
        super().__init__(f"{name}@{hashlib.sha256(described.encode()).hexdigest()[:12]}")


@register_model(StructType)
class _StructModel(models.OpaqueModel):
    pass


@infer_getattr
class _StructAttribute(AttributeTemplate):
    key = StructType

    def generic_resolve(self, typ, name):
        return typ.kinds.get(name)


@unbox(StructType)
def _unbox(typ, instance, c):
    number = c.pyapi.object_getattr_string(instance, "address")
    address = c.pyapi.long_as_voidptr(number)
    c.pyapi.decref(number)
    return NativeValue(address, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@lower_getattr_generic(StructType)
def _read(context, builder, typ, address, name):
    kind, position = typ.kinds[name], typ.position[name]

    def word(k, as_type=WORD):
        words = builder.bitcast(address, as_type.as_pointer())
        loaded = builder.load(builder.gep(words, [WORD(position + k)]))
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if not isinstance(kind, types.Array):
        return word(0, context.get_value_type(kind))
    shape = [word(1 + k) for k in range(kind.ndim)]
    data = word(0, context.get_data_type(kind.dtype).as_pointer())
    return made(context, builder, kind, data, shape)
