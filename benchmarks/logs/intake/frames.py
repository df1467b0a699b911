"""Planted logs as frames of CAN and as records of a run."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from intake.planted import Planted
from io_bridge.recording.record import RecordWriter


def write_candump(log: Planted, folder: Path, rng: np.random.Generator) -> Path:
    """Write lines of candump, and the DBC beside them."""
    lines = [f"({t:.6f}) can0 025#{data.hex().upper()}" for t, data in _frames(log)]
    path = folder / f"log_{log.seed}.log"
    path.write_text("\n".join([*lines, ""]))
    _dbc(log, path)
    return path


def write_asc(log: Planted, folder: Path, rng: np.random.Generator) -> Path:
    """Write lines as Vector's tools do, in base 16 or 10, of CAN or CAN FD, and the DBC beside them."""
    # as Vector's tools write it: frames of another message between those of the wheel, and lines of events
    base = str(rng.choice(["hex", "dec"]))
    show = (lambda n: f"{n:X}") if base == "hex" else str
    lines = [
        "date Wed Jun 3 10:15:30.123 am 2026",
        f"base {base}  timestamps absolute",
        "internal events logged",
    ]
    lines += [
        "// version 13.0.0",
        "Begin Triggerblock Wed Jun 3 10:15:30.123 am 2026",
        "   0.000000 Start of measurement",
    ]
    other = "01 0A" if base == "hex" else "1 10"
    is_fd = rng.random() < 0.3
    for k, (t, data) in enumerate(_frames(log)):
        cells = " ".join(f"{byte:02X}" if base == "hex" else f"{byte}" for byte in data)
        if is_fd:
            lines.append(
                f"{t:11.6f} CANFD   1 Rx   {show(37):>8}  WHEEL  1 0 "
                f"{len(data):x} {len(data):2d} {cells} 0 0 3000 0 0 0 0 0"
            )
        else:
            lines.append(
                f"{t:11.6f} 1  {show(37):<15} Rx   d {len(data)} {cells}  Length = 228000 BitCount = 118 ID = 37"
            )
        if k % 50 == 7 and not log.truth:  # else rows would have other numbers
            lines.append(f"{t:11.6f} 1  {show(512):<15} Rx   d 2 {other}")
    path = folder / f"log_{log.seed}.asc"
    path.write_text("\r\n".join([*lines, "End TriggerBlock", ""]))
    _dbc(log, path)
    return path


def _frames(log: Planted) -> list[tuple[float, bytes]]:
    factor = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[log.time_unit]
    value = np.where(np.isnan(log.value), 0, log.value)
    raw = np.clip(np.rint(value / _per_bit(log)), -(2**31), 2**31 - 1).astype(np.int64)
    return [
        (t, struct.pack("<IH", v % 2**32, int(m * 1000) % 65536))
        for t, v, m in zip(
            (log.stamp * factor).tolist(), raw.tolist(), log.torque.tolist(), strict=True
        )
    ]


def _per_bit(log: Planted) -> float:
    return 1.0 if log.angle_unit == "counts" else 1e-6 if log.angle_unit == "rad" else 1e-4


def _dbc(log: Planted, path: Path) -> None:
    path.with_suffix(".dbc").write_text(
        'VERSION ""\n\nNS_ :\n\nBS_:\n\nBU_: A\n\nBO_ 37 WHEEL: 6 A\n'
        f' SG_ STEER_ANGLE : 0|32@1- ({_per_bit(log):g},0) [0|0] "{log.angle_unit}" A\n'
        ' SG_ STEER_TORQUE : 32|16@1- (0.001,0) [0|0] "Nm" A\n'
    )


def write_own_record(log: Planted, folder: Path, rng: np.random.Generator) -> Path:
    """Write a record of a run: finished, of a writer that was killed, or of one cycle in ten."""
    factor = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}[log.time_unit]
    fields = ("encoder/position_count", "drive/torque_nm", "wheel/rate_rad_s", "guard/fault")
    # one cycle in ten is for logs of which no row has to be found again
    every = slice(None, None, 1 if log.truth else int(rng.choice([1, 1, 10])))
    zeros = np.zeros(len(log.value))
    path = folder / f"log_{log.seed}_{fields[0][:3]}.npy"
    path.unlink(missing_ok=True)
    writer = RecordWriter(path, fields)
    rows = np.zeros(len(zeros[every]), dtype=writer.dtype)
    for name, values in zip(
        ("t_ns", *fields), (log.stamp * factor, log.value, log.torque, zeros, zeros), strict=True
    ):
        rows[name] = values[every]
    writer.append(rows)
    if rng.random() < 0.5:
        writer.close()
    return path
