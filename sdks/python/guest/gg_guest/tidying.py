"""Memory as a program finds it: what it takes next lies side by side.

Every program starts from the memory that was left when the guest was built, and a page of it is copied
when it is first written. What was freed while modules were loaded lies all over that memory; pieces of
it that a program takes anew would cost it a page each. So the holes are filled, with what is never
freed, and a program takes what lies behind them.
"""

_STEP = 16
"""Bytes that CPython and its allocators round up to."""

_SMALL = 512
"""Bytes up to which CPython takes memory from pools, each for pieces of one size."""

_FINE = 4096
"""Bytes up to which holes of each size are looked for; above, sizes an eighth apart."""

_LARGE = 1 << 16
"""Bytes of the largest holes that are looked for."""

_BESIDE = bytes().__sizeof__()
"""Bytes that an object has beside its contents."""

_filled: list[bytes] = []


def fill() -> None:
    """Fills what is free below the end of memory; after a collection, which gives back what it can."""
    size = _LARGE
    while size > _SMALL:
        _fill_holes(size)
        size -= _STEP if size <= _FINE else size // 8 // _STEP * _STEP
    for size in range(_SMALL, _BESIDE, -_STEP):
        _fill_holes(size)


def _fill_holes(size: int) -> None:
    end = _end()
    while id(piece := bytes(size - _BESIDE)) < end:
        _filled.append(piece)
    if size <= _SMALL:
        # The pool that it opened lies behind the holes: the next ones are taken from there.
        _filled.append(piece)


def _end() -> int:
    """An address behind all that was ever taken: of a piece that is larger than any hole."""
    return id(bytes(4 * _LARGE))
