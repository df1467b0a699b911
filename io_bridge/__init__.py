"""Everything that crosses the process boundary: buses, recorder, logs."""
