"""Read a logged encoder, filter it, feed the steering model, print the peak torque.

    python examples/replay_a_log.py tests/data/logs/phobos_limtoc_k10_step.csv

What `rigloop replay` does, in a few lines of Python and without a record.
"""

import sys

import numpy as np

from codegen.kernels.build import build_kernel
from codegen.options.options import KernelOptions
from estimators.encoder.filter import READ_PORTS, WRITE_PORTS, EncoderFilter
from io_bridge.logs.reader import read_log
from io_bridge.logs.schedule import schedule

STEP_S = 0.001  # of the filter and of the model
RIG_BANDWIDTH_RAD_S = 310.4


def main(path: str) -> None:
    log = read_log(path)
    print(f"{log.path.name}: {log.n_rows} rows, {log.duration_s:.2f} s, read as {log.mapping.name}")
    for fault in log.faults:
        print(f"  {fault.kind}: {fault.count}, first at row {fault.first_row}")

    # the samples on the ticks of a task, then one prediction a tick and one correction a sample
    ticks = schedule(log, STEP_S)
    angle = log.mapping.angle
    encoder = EncoderFilter(
        "encoder",
        {port: f"log/{port}" for port in READ_PORTS},
        {port: f"encoder/{port}" for port in WRITE_PORTS},
        counts_per_rev=angle.counts_per_rev,
        counter_span=angle.counter_span,
        zero_count=angle.zero_count,
        sign=angle.sign,
        period_s=STEP_S,
        sample_period_s=log.sample_period_s,
        bandwidth_rad_s=log.bandwidth_rad_s(RIG_BANDWIDTH_RAD_S),
    )
    filtered = encoder.run(ticks.position_count, ticks.valid, ticks.elapsed)
    motion = filtered[:, [WRITE_PORTS.index(p) for p in ("angle_rad", "rate_rad_s")]]
    acceleration = filtered[:, WRITE_PORTS.index("acceleration_rad_s2")]

    # the model, guided by that motion; the torque is what the guide needs
    kernel = build_kernel("steering_26", KernelOptions(step_s=STEP_S)).module.Kernel()
    kernel.reset(*motion[0], acceleration[0])
    torque_nm = np.zeros(len(motion))
    for i, ((angle_rad, rate_rad_s), acceleration_rad_s2) in enumerate(
        zip(motion, acceleration, strict=True)
    ):
        if kernel.step(angle_rad, rate_rad_s, acceleration_rad_s2) != 0:
            raise SystemExit(f"the kernel failed at tick {i}: status {kernel.status}")
        torque_nm[i] = kernel.outputs["guide/torque_nm"]

    peak = int(np.argmax(np.abs(torque_nm)))
    print(f"peak torque {torque_nm[peak]:.3f} Nm at {peak * STEP_S:.3f} s")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python examples/replay_a_log.py LOG.csv")
    main(sys.argv[1])
