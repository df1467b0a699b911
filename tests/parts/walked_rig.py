"""A small rig with one drive, whose torque is that of a relay: for the walk, and for limits of torque."""

from pathlib import Path

from rig_configs.load import LoadedRig
from rigloop.compose.wiring import load

TEXT = """
title = "One drive"

[tasks.fast]
period_us = 200
blocks = ["bus", "wheel", "guard"]

[tasks.slow]
period_us = 1000
priority = 70
blocks = ["relay"]

[blocks.bus]
kind = "bus"
backend = "{backend}"

[blocks.bus.reads]
"wheel/torque_nm" = "guard/torque_nm"
"wheel/enable" = "supervisor/enable"
"wheel/reset" = "supervisor/reset"

[blocks.bus.drives.wheel]
counts_per_rev = 1048576
rated_torque_nm = 6.37
peak_torque_nm = 19.1
watchdog_ms = 100.0

[blocks.bus.drives.wheel.plant]
inertia_kg_m2 = 0.06
viscous_nms = 0.05
coulomb_nm = 0.1
hands = "free"

[blocks.wheel]
kind = "encoder_filter"
counts_per_rev = 1048576
bandwidth_rad_s = 310.4
reads = {{ position_count = "bus/wheel/position_count", valid = "bus/wheel/valid", elapsed = "loop/fast/elapsed" }}

[blocks.relay]
kind = "relay"
torque_nm = 11.0
reads = {{ angle_rad = "wheel/angle_rad" }}

[blocks.guard]
kind = "guard"
preset = "bench"
limit_nm = 12.0
rate_nm_s = 2000.0
request_sign = -1
ramp_in_s = 0.01
max_angle_rad = 7.7
max_rate_rad_s = 40.0

[blocks.guard.reads]
torque_request_nm = "relay/torque_nm"
request_cycle = "loop/slow/cycle"
request_fault = "loop/slow/fault"
own_cycle = "loop/fast/cycle"
own_fault = "loop/fast/fault"
own_stop = "loop/fast/stop"
elapsed = "loop/fast/elapsed"
sensor_valid = "wheel/trusted"
angle_rad = "wheel/angle_rad"
rate_rad_s = "wheel/rate_rad_s"
actuator_ready = "bus/wheel/operational"
heartbeat = "supervisor/heartbeat"
arm = "supervisor/arm"
stop = "supervisor/stop"
"""


def write_rig(folder: Path, backend: str = "eth9", *changes: tuple[str, str]) -> LoadedRig:
    """Write the rig into a folder, with changes of its text."""
    text = TEXT.format(backend=backend)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = folder / "one_drive.toml"
    path.write_text(text)
    return load(str(path))
