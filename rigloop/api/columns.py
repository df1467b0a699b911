"""Signals over one time: arrays by name, with their units, and the way to pandas and xarray."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rig_configs.mistakes import near
from rig_configs.units import of_name

if TYPE_CHECKING:
    import pandas
    import xarray

Array = NDArray[np.float64]


class Columns(Mapping[str, Array]):
    """Signals that share one time: `columns["wheel/angle_rad"]` has a value for each of `t_s`.

    Parameters
    ----------
    t_s : ndarray of float64, shape (n,)
        Time of each row, s.
    columns : mapping of str to ndarray, shape (n,) each
        By the path of the signal.
    units : mapping of str to str, optional
        Of signals whose unit is known; the others have that of the last word of their path, if it is one.
    """

    def __init__(
        self, t_s: Array, columns: Mapping[str, Array], units: Mapping[str, str] | None = None
    ) -> None:
        self.t_s = t_s
        self._columns = columns
        self._units = dict(units or {})

    def __getitem__(self, path: str) -> Array:
        try:
            return self._columns[path]
        except KeyError:
            raise KeyError(f"no signal {path!r}: {near(path, self._columns)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"<{len(self)} signals, {len(self.t_s)} rows>"

    @property
    def units(self) -> dict[str, str]:
        """Unit of each signal; "" where nobody knows it."""
        return {path: self._units.get(path) or of_name(path) or "" for path in self}

    def array(self, *paths: str) -> Array:
        """Return signals side by side, shape (n, number of paths); all of them without a path."""
        return np.column_stack([self[path] for path in paths or tuple(self)])

    def pandas(self) -> pandas.DataFrame:
        """Return a DataFrame: a column each, `t_s` as index, the units in `attrs["units"]`.

        Raises
        ------
        ImportError
            pandas is not installed; the message says how.
        """
        module = extra("pandas")
        frame = module.DataFrame(dict(self), index=module.Index(self.t_s, name="t_s"))
        frame.attrs["units"] = self.units
        return frame

    def xarray(self) -> xarray.Dataset:
        """Return a Dataset: a variable each over the dimension `t_s`, the unit in the variable's `attrs["units"]`.

        Raises
        ------
        ImportError
            xarray is not installed; the message says how.
        """
        module = extra("xarray")
        units = self.units
        variables: dict[str, Any] = {
            path: ("t_s", values, {"units": units[path]} if units[path] else {})
            for path, values in self.items()
        }
        return module.Dataset(variables, coords={"t_s": ("t_s", self.t_s, {"units": "s"})})


def extra(name: str) -> ModuleType:
    """Import a library that is an extra of the distribution."""
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"{name} is not installed: pip install 'rigloop[{name}]'") from None
