"""The guard of a rig in numbers: its limits, and the signals beside those that the rig file wires."""

from __future__ import annotations

from rig_configs import schema
from rig_configs.load import write_path
from rigloop.compose.kernels import period_us
from rt_core.plan import LOOP_SIGNALS, loop_signal
from rt_core.safety.trips import GuardConfig

# of bad samples, and of bad requests, that are bridged where a rig says nothing: ms, and periods
SENSOR_HOLD = (5.0, 5)
REQUEST_HOLD = (3.0, 3)
GIVEN_RAD = (
    0.5  # over which the limit torque does the work that a run may give, where a rig says nothing
)


def guard_config(rig: schema.Rig, name: str, config: schema.GuardBlock) -> GuardConfig:
    """Return the limits of a guard, with those that the rig leaves open."""
    period_ms = period_us(rig, name) * 1e-3
    sensor_hold_ms = _hold_ms(config.sensor_hold_ms, SENSOR_HOLD, period_ms)
    return GuardConfig(
        limit_nm=config.limit_nm,
        rate_nm_s=config.rate_nm_s,
        request_sign=config.request_sign,
        request_gain=config.request_gain,
        max_angle_rad=config.max_angle_rad,
        max_rate_rad_s=config.max_rate_rad_s,
        ramp_in_s=config.ramp_in_s,
        ramp_out_s=config.ramp_out_s,
        max_request_age_ms=config.max_request_age_ms,
        max_gap_ms=config.max_gap_ms,
        sensor_hold_ms=sensor_hold_ms,
        request_hold_ms=_hold_ms(config.request_hold_ms, REQUEST_HOLD, period_ms),
        sensor_bucket_ms=_given(config.sensor_bucket_ms, 4.0 * sensor_hold_ms),
        skip_bucket_ms=_given(config.skip_bucket_ms, 2.0 * config.max_gap_ms),
        heartbeat_timeout_ms=config.heartbeat_timeout_ms,
        request_period_ms=_request_period_ms(rig, config),
    )


def max_given_j(rig: schema.Rig, config: schema.GuardBlock) -> float:
    """Return the net work that the motor may do on the hands in a good run."""
    return _given(rig.verdict.max_given_j, GIVEN_RAD * config.limit_nm)


def beside(rig: schema.Rig, name: str, config: schema.GuardBlock) -> dict[str, str]:
    """Return what a guard can know without having been wired to it: which block failed, and whether the frame of
    this cycle reached the drive that it commands."""
    found = {}
    signals = {loop_signal(task, s): task for task in rig.tasks for s in LOOP_SIGNALS}
    for fault, block in (("own_fault", "own_block"), ("request_fault", "request_block")):
        task = signals.get(config.reads.get(fault, ""))
        if task is not None and config.reads[fault] == loop_signal(task, "fault"):
            found[block] = loop_signal(task, "fault_block")
    torque = write_path(name, config.model_dump(), "torque_nm")
    for bus, exchange in rig.blocks.items():
        if isinstance(exchange, schema.BusBlock):
            for port, path in exchange.reads.items():
                slave, _, command = port.rpartition("/")
                if path == torque and command == "torque_nm":
                    found["delivered"] = write_path(bus, exchange.model_dump(), f"{slave}/valid")
    return found


def _request_period_ms(rig: schema.Rig, config: schema.GuardBlock) -> float:
    cycle = config.reads.get("request_cycle", "")
    return next(
        (t.period_us * 1e-3 for n, t in rig.tasks.items() if loop_signal(n, "cycle") == cycle), 0.0
    )


def _hold_ms(given: float | None, default: tuple[float, int], period_ms: float) -> float:
    return _given(given, max(default[0], default[1] * period_ms))


def _given(value: float | None, default: float) -> float:
    return default if value is None else value
