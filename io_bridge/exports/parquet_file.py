"""Parquet: one table; units with the columns, events and facts with the schema."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from io_bridge.exports.measured import Measured
from io_bridge.exports.progress import Advance
from io_bridge.logs.formats.opened import extra

TIME = "t_ns"


def write_parquet(measured: Measured, path: Path, advance: Advance) -> None:
    """Write `t_ns` and a float64 column a signal, a row group a part."""
    arrow = extra("pyarrow", path, "written")
    parquet = extra("pyarrow.parquet", path, "written")
    fields = [arrow.field(TIME, arrow.int64(), metadata={"unit": "ns"})]
    fields += [
        arrow.field(path, arrow.float64(), metadata={"unit": unit} if unit else None)
        for path, unit in measured.columns
    ]
    facts = {
        "rigloop": json.dumps(dict(measured.facts)),
        "events": json.dumps([asdict(event) for event in measured.events]),
    }
    schema = arrow.schema(fields, metadata=facts)
    # measured numbers hardly repeat: dictionaries and statistics of them cost time and save nothing
    settings = {"compression": "zstd", "use_dictionary": False, "write_statistics": [TIME]}
    with parquet.ParquetWriter(path, schema, **settings) as writer:
        for t_ns, values in measured.joined():
            columns = [arrow.array(t_ns), *map(arrow.array, values.T)]
            writer.write_table(arrow.table(columns, schema=schema))
            advance(len(t_ns))
