"""Build the steering model's kernel, step it by hand, and compare it with its NumPy twin.

    python examples/step_a_kernel.py

The compiled kernel and the twin come from the same equations by two ways of writing them down.
"""

import math
import time

import numpy as np

from codegen.kernels.build import build_kernel, load_reference
from codegen.options.options import KernelOptions

STEP_S = 0.001
STEPS = 200


def hands(t: float) -> tuple[float, float, float]:
    """Angle, rate and acceleration of the wheel: 30 degrees to either side, once a second."""
    amplitude, w = math.radians(30.0), 2.0 * math.pi
    s, c = math.sin(w * t), math.cos(w * t)
    # starts softly, so that there is no jump in the acceleration: A sin^3
    return (
        amplitude * s**3,
        amplitude * w * 3.0 * s * s * c,
        amplitude * w * w * (6.0 * s * c * c - 3.0 * s**3),
    )


def main() -> None:
    built = build_kernel("steering_26", KernelOptions(step_s=STEP_S))
    twin_module = load_reference(built.path)
    kernel, twin = built.module.Kernel(), twin_module.Kernel()
    info = built.module.model_info()
    print(f"{info['name']}: {info['n_q']} coordinates, {info['n_phi']} constraints, {built.path}")

    kernel.reset(*hands(0.0))
    twin.reset(*hands(0.0))
    peak = error_q = error_torque = 0.0
    seconds = 0.0
    for k in range(1, STEPS + 1):
        guide = hands(k * STEP_S)
        begin = time.perf_counter()
        status = kernel.step(*guide)
        seconds += time.perf_counter() - begin
        twin.step(*guide)
        if status != 0:
            raise SystemExit(f"step {k}: status {status}, residual {kernel.residual:.3g}")
        torque = kernel.outputs["guide/torque_nm"]
        peak = max(peak, abs(torque))
        error_q = max(error_q, float(np.max(np.abs(np.array(kernel.q) - twin.q))))
        error_torque = max(error_torque, abs(torque - twin.outputs["guide/torque_nm"]))

    print(f"{STEPS} steps of {STEP_S * 1e3:g} ms, {seconds / STEPS * 1e6:.1f} us each from Python")
    print(f"peak torque {peak:.3f} Nm")
    print(f"largest difference from the twin: {error_q:.1e} in q, {error_torque:.1e} Nm")


if __name__ == "__main__":
    main()
