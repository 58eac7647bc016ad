"""The world's exports: a program is run as `program.py`, and its failure told in Python's words.

Made into a component, this module is loaded once, when the guest is built; every program starts
from the memory that was left then.
"""

import gc

import gg
import wit_world
from gg import _wire

from . import lazily, library, modules, output, program, tidying

__all__ = ["WitWorld", "gg", "lazily", "library"]


class WitWorld(wit_world.WitWorld):
    """What gg calls."""

    def run(self, source, modules, granted, ending, has_library):
        """Runs one program; what it may call is decided elsewhere."""
        program.run(source, modules)

    def bound_operations(self):
        """The operations that functions of the SDK bind; asked of a guest that waits for its program."""
        program.rehearse()
        return list(_wire.BOUND)


modules.install()
output.install()
program.settle()
# What is alive now lives as long as the guest: no collection looks at it again.
gc.collect()
gc.freeze()
tidying.fill()
