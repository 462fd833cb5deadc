"""Element types by the names of NumPy, and numbers."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

bool_ = np.dtype("bool")
int16 = np.dtype("int16")
int32 = np.dtype("int32")
int64 = np.dtype("int64")
float32 = np.dtype("float32")
float64 = np.dtype("float64")
complex64 = np.dtype("complex64")
complex128 = np.dtype("complex128")

#: By their number in the library.
DTYPES = (float32, float64, complex64, complex128, int16, int32, int64, bool_)
NUMBERS = {dtype: number for number, dtype in enumerate(DTYPES)}
#: Types of arrays whose numbers another type has.
WIDER = {
    np.dtype(a): np.dtype(b)
    for a, b in (("int8", "int16"), ("uint8", "int16"), ("uint16", "int32"), ("uint32", "int64"), ("float16", "float32"))
}


def type_number(dtype: Any) -> int:
    """The number of an element type. Raises TypeError for a type that tensors do not have."""
    own = np.dtype(dtype)
    number = NUMBERS.get(own)
    if number is None:
        raise TypeError(f"tensors have no elements of type {own}; they have {', '.join(str(d) for d in DTYPES)}")
    return number


def number(value: Any) -> int | float | complex:
    """A scalar as a number of Python."""
    if type(value) is int or type(value) is float or type(value) is complex:
        return value
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (int, float, complex)):
        return value
    raise TypeError(f"{type(value).__name__} where a number is expected")


def is_number(value: Any) -> bool:
    """True for scalars of Python and NumPy."""
    return isinstance(value, (int, float, complex, np.generic))


def whole(name: str, value: Any) -> int:
    """An integer given for an option. Raises TypeError for others, numbers with fractions among them."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r}; give an integer") from None
