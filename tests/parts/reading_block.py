"""A block with ports and nothing else."""

from rt_core.injection.load import BusyBlock


class Reader(BusyBlock):
    """A block that does nothing and reads some signals."""

    def __new__(cls, name, paths):
        return BusyBlock.__new__(cls, name, 0)

    def __init__(self, name, paths):
        BusyBlock.__init__(self, name, 0)
        self._reads = {f"in{i}": path for i, path in enumerate(paths)}

    @property
    def reads(self):
        return self._reads
