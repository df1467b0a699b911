"""Rigs that ship, made so tolerant that a busy machine decides no test."""

TOLERANT = (
    ("max_command_gap_ms = 100.0", "max_command_gap_ms = 1000.0"),
    ("max_torque_step_nm = 5.0", "max_torque_step_nm = 1000.0"),
    ("max_overrun_percent = 5.0", "max_overrun_percent = 100.0"),
    ("core = 0\n", ""),
    ("core = 1\n", ""),
)
