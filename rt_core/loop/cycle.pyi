from typing import Any

import numpy as np
from numpy.typing import NDArray

from rt_core.plan import Task
from rt_core.signals.layout import Area

class Cycle:
    """A task's image, mirrors and blocks, bound to their cells. Made by `Loop` and `Offline`.

    Real time
    ---------
    Safe to step: see cycle.pxd. Holds all memory that a cycle touches, except the table.
    """

    task: Task
    area: Area
    image_array: NDArray[np.float64]

    def __init__(self, *args: Any) -> None: ...
