"""Statements on index strings: C["abij"] += 0.5 * V["abef"] * T["efij"].

Expressions only record what is meant; they are checked and planned where they are assigned, which is collective. Labels are letters, one for
each dimension, or a sequence of names. Labels that the left-hand side lacks are summed over.
"""

from __future__ import annotations

from typing import Any, Callable

from . import _core
from ._plan import Plan
from ._stored import Stored
from ._types import NUMBERS, is_number, number


class Expression:
    """A sum of products of labelled tensors and numbers. Operators: +, -, * with expressions and numbers, / by numbers.

    ``float(e)``, ``complex(e)`` and ``e.sum()`` give the sum over all labels (collective).
    """

    __slots__ = ("_build", "_world")
    __array_ufunc__ = None

    def __init__(self, build: Callable[[], _core.Expression], world: Any) -> None:
        self._build = build
        self._world = world

    def __add__(self, other: Any) -> Expression:
        return _joined(self, other, lambda a, b: a.plus(b))

    __radd__ = __add__

    def __neg__(self) -> Expression:
        return -1 * self

    def __sub__(self, other: Any) -> Expression:
        return self + (-1 * other if isinstance(other, Expression) else -other)

    def __rsub__(self, other: Any) -> Expression:
        return _joined(-self, other, lambda a, b: a.plus(b))

    def __mul__(self, other: Any) -> Expression:
        if isinstance(other, Expression):
            return _joined(self, other, lambda a, b: a.times(b))
        return Expression(lambda: self._build().scaled(number(other)), self._world)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Expression:
        if isinstance(other, Expression):
            raise TypeError("division by an expression; write C[labels] /= divisor, which divides element by element")
        return Expression(lambda: self._build().scaled(1 / number(other)), self._world)

    def conj(self) -> Expression:
        """The complex conjugate, numbers too."""
        return Expression(lambda: self._build().conj(), self._world)

    def sum(self) -> Any:
        """The sum over all labels, on every rank. Collective."""
        if self._world.is_dry_run:
            raise _core.Unsupported("a sum on the world of a dry run, which has no elements; use a world of real ranks")
        return self._world.agree(self._build).total()

    def __float__(self) -> float:
        return float(self.sum())

    def __complex__(self) -> complex:
        return complex(self.sum())

    def __int__(self) -> int:
        return int(self.sum())


def _joined(a: Expression, b: Any, join: Callable[[_core.Expression, _core.Expression], _core.Expression]) -> Expression:
    def build() -> _core.Expression:
        left = a._build()
        if isinstance(b, Expression):
            return join(left, b._build())
        # A number takes on the type of the expression, or one that has it.
        return join(left, _constant(number(b), left.element))

    if not isinstance(b, Expression) and not is_number(b):
        return Expression(lambda: _refuse(b), a._world)
    return Expression(build, a._world)


def _constant(value: int | float | complex, element: int) -> _core.Expression:
    one = _core.number(1, element)
    return one if value == 1 else one.scaled(value)


def _refuse(value: Any) -> _core.Expression:
    hint = "; label it, as in A['ij']" if hasattr(value, "shape") else ""
    raise TypeError(f"{type(value).__name__} in an expression of labelled tensors and numbers{hint}")


class Indexed(Expression):
    """A tensor with labels: a term of an expression, and the left-hand side of a statement. Made by ``A["ij"]``."""

    __slots__ = ("tensor", "labels", "_is_done")

    def __init__(self, tensor: Stored, labels: Any) -> None:
        super().__init__(lambda: _core.labelled(tensor._h, labels), tensor.world)
        self.tensor: Any = tensor  # a Tensor, whose class is made of this one
        self.labels = labels
        self._is_done = False

    def assign(self, right: Any, beta: Any = 0) -> None:
        """self = right + beta * self; with beta = 0 old elements are not read. Collective."""
        handle = self.tensor._h
        expression, factor = self._world.agree(lambda: (as_expression(right, self.tensor), number(beta)))
        _core.assign(handle, self.labels, expression, factor)

    def __iadd__(self, right: Any) -> Indexed:
        _core.add(self.tensor._h, self.labels, self._world.agree(lambda: as_expression(right, self.tensor)))
        return self._done()

    def __isub__(self, right: Any) -> Indexed:
        _core.add(self.tensor._h, self.labels, self._world.agree(lambda: as_expression(right, self.tensor).scaled(-1)))
        return self._done()

    def __imul__(self, factor: Any) -> Indexed:
        if isinstance(factor, Expression):
            self.assign(Indexed(self.tensor, self.labels) * factor)
            return self._done()
        _core.scale(self.tensor._h, self.labels, self._world.agree(lambda: number(factor)))
        return self._done()

    def __itruediv__(self, divisor: Any) -> Indexed:
        if isinstance(divisor, Expression):
            _core.divide(self.tensor._h, self.labels, self._world.agree(divisor._build))
        else:
            _core.scale(self.tensor._h, self.labels, self._world.agree(lambda: 1 / number(divisor)))
        return self._done()

    def _done(self) -> Indexed:
        self._is_done = True
        return self

    def explain(self, right: Any, beta: Any = 0, ranks: int = 0) -> Plan:
        """The plan of ``self = right + beta * self``: grid, bytes per step and rank, memory. ranks: with sparse tensors, another number
        of ranks than here. Local. Returns a Plan."""
        return Plan(_core.explain(self.tensor._h, self.labels, as_expression(right, self.tensor), number(beta), ranks))


def as_expression(value: Any, target: Stored) -> _core.Expression:
    """What is assigned to a tensor, as an expression of the library."""
    if isinstance(value, Expression):
        return value._build()
    if is_number(value):
        return _constant(number(value), NUMBERS[target.dtype])
    return _refuse(value)


def _projected(right: Expression, kind: int) -> Expression:
    return Expression(lambda: right._build().projected(kind), right._world)


def antisymmetrized(right: Expression) -> Expression:
    """The signed sum of an expression over the distinct permutations of the output's antisymmetric groups: P(ab) of coupled cluster."""
    return _projected(right, 1)


def symmetrized(right: Expression) -> Expression:
    """The sum over the distinct permutations of the output's symmetric groups."""
    return _projected(right, 2)


def canonical(right: Expression) -> Expression:
    """The caller's word that an expression has the symmetry of the output: one element of each orbit is taken as it is."""
    return _projected(right, 3)


def broadcast(labels: Any, right: Expression) -> Expression:
    """Says that an expression is meant to be repeated along labels of the output that it does not have."""
    return Expression(lambda: right._build().vouched(labels, False), right._world)


def sum(labels: Any, right: Expression) -> Expression:
    """Says that labels are meant to be summed over though they occur only once."""
    return Expression(lambda: right._build().vouched(labels, True), right._world)


def where(mask: Indexed, right: Expression) -> Expression:
    """An expression at the elements that a sparse tensor stores: products are formed there only."""
    return Expression(lambda: right._build().masked(mask.tensor._h, mask.labels, False), right._world)


def where_not(mask: Indexed, right: Expression) -> Expression:
    """An expression with a sparse factor at the elements that a sparse tensor does not store."""
    return Expression(lambda: right._build().masked(mask.tensor._h, mask.labels, True), right._world)


class over:
    """The left-hand side of a statement under another algebra than plus and times: ``over("min_plus", d["j"]) << d["i"] * A["ij"]`` adds
    to the elements as the algebra adds; ``.assign(...)`` replaces them. Collective.

    algebra: "min_plus", "max_plus" (float64, int64), "max_times" (float64), "or_and" (bool), "product" (products in place of sums; one
    factor). What a sparse tensor does not store is the zero of the algebra.
    """

    __slots__ = ("algebra", "target")

    def __init__(self, algebra: str, target: Indexed) -> None:
        self.algebra = algebra
        self.target = target

    def _run(self, right: Expression, accumulate: bool) -> None:
        expression = self.target._world.agree(lambda: as_expression(right, self.target.tensor))
        _core.run_algebra(self.algebra, self.target.tensor._h, self.target.labels, expression, accumulate)

    def assign(self, right: Expression) -> None:
        """Replaces the elements that the labels name."""
        self._run(right, False)

    def __lshift__(self, right: Expression) -> None:
        self._run(right, True)
