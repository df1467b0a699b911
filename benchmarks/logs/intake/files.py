"""Planted logs as files: dialects of text with banners, names and damaged rows, and binary formats."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np

from intake.frames import write_asc, write_candump, write_own_record
from intake.planted import Planted

TEXTS = ("csv", "csv", "tsv", "semicolon", "comma decimal", "spaces", "gz", "utf-16", "zst")
BINARIES = ("parquet", "hdf5", "mat", "mat73", "mdf", "mcap", "candump", "asc", "npy", "own record")
CAN = ("candump", "asc")
RECORDS = ("npy", "own record")
NAMES = (
    ("time", "angle", "torque"), ("t", "steer_angle", "motor_torque"), ("Timestamp", "Encoder", "Torque"),
    ("Zeit", "Lenkwinkel", "Drehmoment"), ("clock", "wheel_position", "trq"),
    ("TIME", "SteeringWheelAngle", "SteeringTorque"),
)  # fmt: skip
COUNT_NAMES = ("enc_count", "encoder", "raw_counts", "pos_cnt", "position")


def write(log: Planted, folder: Path, rng: np.random.Generator, form: str) -> Path:
    """Write a log as a file of a form, and add the faults that only files have to its truth."""
    if form in TEXTS:
        return _text(log, folder, rng, form)
    return _BINARY[form](log, folder, rng)


def _names(log: Planted, rng: np.random.Generator) -> tuple[str, str, str]:
    time, angle, torque = NAMES[int(rng.integers(len(NAMES)))]
    if log.angle_unit == "counts":
        angle = str(rng.choice(COUNT_NAMES))
    style = int(rng.integers(4))
    for_unit = {"counts": "counts"}.get(log.angle_unit, log.angle_unit)
    if style == 0:
        return f"{time}_{log.time_unit}", f"{angle}_{for_unit}", f"{torque}_Nm"
    if style == 1:
        return f"{time} [{log.time_unit}]", f"{angle} [{for_unit}]", f"{torque} [Nm]"
    if style == 2:
        return f"{time}({log.time_unit})", f"{angle}({for_unit})", f"{torque}(Nm)"
    # no unit at all: the numbers have to say it
    return time, angle, torque


def _cells(log: Planted) -> tuple[list[str], list[str], list[str]]:
    whole = log.time_unit in ("us", "ns")
    stamp = [f"{v:.0f}" if whole else f"{v:.6f}" for v in log.stamp]
    if log.angle_unit == "counts":
        value = ["" if np.isnan(v) else f"{v:.0f}" for v in log.value]
    else:
        value = ["" if np.isnan(v) else f"{v:.6g}" if abs(v) < 1 else f"{v:.9g}" for v in log.value]
    return stamp, value, [f"{v:.3f}" for v in log.torque]


def _text(log: Planted, folder: Path, rng: np.random.Generator, form: str) -> Path:
    sign = {"tsv": "\t", "semicolon": ";", "comma decimal": ";", "spaces": " "}.get(form, ",")
    names = _names(log, rng)
    if form == "spaces":
        names = tuple(n.replace(" ", "") for n in names)
    columns = _cells(log)
    if form == "spaces":
        columns = (columns[0], [c or "nan" for c in columns[1]], columns[2])
    rows = [sign.join(cells) for cells in zip(*columns, strict=True)]
    if form == "comma decimal":
        rows = [row.replace(".", ",") for row in rows]
    head = int(rng.integers(6))
    damages = list(rng.permutation(["damaged row", "damaged cell", "repeated header"]))[
        : int(rng.integers(0, 4))
    ]
    header = sign.join(names)
    for kind in damages if log.truth or log.excused else []:
        at = int(rng.integers(60, len(rows) - 60))
        if any(a - 100 < at < b + 100 for _, a, b in log.truth):
            continue
        if kind == "damaged cell":
            cells = rows[at].split(sign)
            cells[1] = str(rng.choice(["#ERR", "1.2.3", "0x", "??"]))
            rows[at] = sign.join(cells)
        elif kind == "damaged row":
            rows[at] = rows[at][: len(rows[at]) // 2].rsplit(sign, 1)[0]
        elif head < 4:
            rows.insert(at, header)
            log.truth[:] = [(k, a + (a >= at), b + (b >= at)) for k, a, b in log.truth]
            log.excused[:] = [(a + (a >= at), b + (b >= at)) for a, b in log.excused]
        else:
            continue
        log.truth.append((kind, at, at))
    banner = []
    if log.angle_unit == "counts" and not log.span:
        banner.append(f"# encoder: {log.counts_per_rev} counts/rev")
    if head in (1, 2):
        banner = [
            "Data logger 3.1",
            "Operator: A. N. Other",
            f"Start;2026-01-02 12:0{head}:00",
            *banner,
            "",
        ]
    lines = [*banner, *([] if head == 5 else [header]), *rows]
    end = "\r\n" if rng.random() < 0.3 else "\n"
    raw = end.join([*lines, ""]).encode("utf-16" if form == "utf-16" else "utf-8")
    path = folder / f"log_{log.seed}.{'csv' if form not in ('gz', 'zst') else 'csv.' + form}"
    if form == "gz":
        raw = gzip.compress(raw, 1)
    elif form == "zst":
        import zstandard

        raw = zstandard.ZstdCompressor().compress(raw)
    path.write_bytes(raw)
    return path


def _columns(log: Planted, rng: np.random.Generator) -> dict[str, np.ndarray]:
    while True:
        names = _names(log, rng)
        if log.time_unit in names[0] or log.angle_unit == "counts":
            break
    if log.angle_unit == "counts" and not log.span:
        names = (names[0], f"{names[1]}_{log.counts_per_rev}_counts_per_rev", names[2])
    return dict(zip(names, (log.stamp, log.value, log.torque), strict=True))


def _parquet(log: Planted, folder: Path, rng: np.random.Generator) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / f"log_{log.seed}.parquet"
    pq.write_table(pa.table(_columns(log, rng)), path)
    return path


def _hdf5(log: Planted, folder: Path, rng: np.random.Generator) -> Path:
    import h5py

    path = folder / f"log_{log.seed}.h5"
    with h5py.File(path, "w") as file:
        for name, values in _columns(log, rng).items():
            file[f"run/{name.replace('/', ' per ')}"] = values
    return path


def _mat73(log: Planted, folder: Path, rng: np.random.Generator) -> Path:
    import h5py

    path = folder / f"log_{log.seed}.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in _columns(log, rng).items():
            file[name.replace("/", "_")] = values[None, :]
    with path.open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116) + b" " * 8 + b"\x00\x02IM")
    return path


def _mat(log: Planted, folder: Path, rng: np.random.Generator) -> Path:
    from scipy.io import savemat

    path = folder / f"log_{log.seed}.mat"
    columns = _columns(log, rng)
    savemat(
        path,
        {
            "log": {
                "".join(c if c.isalnum() else "_" for c in n)[:31]: v for n, v in columns.items()
            }
        },
        long_field_names=True,
    )
    return path


def _mdf(log: Planted, folder: Path, rng: np.random.Generator) -> Path:
    from asammdf import MDF, Signal

    path = folder / f"log_{log.seed}.mf4"
    (time, stamp), (angle, value), (torque, nm) = _columns(log, rng).items()
    del time
    factor = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[log.time_unit]
    t = stamp * factor
    with MDF(version="4.10") as mdf:
        unit = {"counts": ""}.get(log.angle_unit, log.angle_unit)
        mdf.append([Signal(value, t, name=angle, unit=unit), Signal(nm, t, name=torque, unit="Nm")])
        mdf.save(path, overwrite=True)
    return path


def _mcap(log: Planted, folder: Path, rng: np.random.Generator) -> Path:
    from mcap.writer import Writer

    path = folder / f"log_{log.seed}.mcap"
    factor = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}[log.time_unit]
    (_, stamp), (angle, value), (torque, nm) = _columns(log, rng).items()
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start()
        schema = writer.register_schema("wheel", "jsonschema", b'{"type": "object"}')
        channel = writer.register_channel("/wheel", "json", schema)
        for t, v, m in zip(stamp, value, nm, strict=True):
            ns = max(0, int(t * factor))
            data = json.dumps({angle: None if np.isnan(v) else float(v), torque: float(m)}).encode()
            writer.add_message(channel, ns, data, ns)
        writer.finish()
    return path


def _npy(log: Planted, folder: Path, rng: np.random.Generator) -> Path:
    factor = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}[log.time_unit]
    dtype = [("t_ns", "<i8"), ("encoder/position_count", "<f8"), ("drive/torque_nm", "<f8")]
    rows = np.zeros(len(log.value), dtype=dtype)
    rows["t_ns"], rows["encoder/position_count"], rows["drive/torque_nm"] = (
        log.stamp * factor,
        log.value,
        log.torque,
    )
    path = folder / f"log_{log.seed}.npy"
    np.save(path, rows)
    return path


_BINARY = {
    "parquet": _parquet, "hdf5": _hdf5, "mat": _mat, "mat73": _mat73, "mdf": _mdf, "mcap": _mcap,
    "candump": write_candump, "asc": write_asc, "npy": _npy, "own record": write_own_record,
}  # fmt: skip
