"""The page of `rigloop monitor` in headless Chromium: first paint, bytes, main thread, and CPU of its server.

    python benchmarks/page.py [--seconds 8] [--json]

A steering rig runs for twenty seconds and is recorded; then nothing but its record plays, in a page with twenty strips
of ten seconds, a mechanism that moves, and all panels. Bytes are those of the wire, compressed. The time of a frame is
the processor time of the page's main thread (scripts, layout, painting) over the frames that were drawn meanwhile.
60 s in all; progress goes to stderr. Needs Chromium. Exit code 0: every bar holds; 1: one does not.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from serving.served import Tell, served

sys.path.append(str(Path(__file__).parents[1] / "tests" / "parts"))

from chromium import Chromium

from rigloop.monitor.layouts import layout_file, write_layout
from rigloop.monitor.messages import Layout

RIG = "steering_wheel"
RECORDED_S = 20.0
AT = 0.52  # of the record: there are ten seconds before, and as many after
STRIPS = (
    "wheel/angle_rad", "wheel/rate_rad_s", "wheel/acceleration_rad_s2", "wheel/innovation_rad", "wheel/jerk_rad_s3",
    "guard/torque_nm", "bus/wheel/torque_actual_nm", "bus/wheel/sensor_torque_nm", "bus/exchange_ns",
    "loop/estimation/late_ns", "loop/estimation/step_ns", "loop/simulation/late_ns", "loop/simulation/step_ns",
    "steering/guide/torque_nm", "steering/rack/travel_m", "steering/rack/rate_m_s", "steering/knuckle_left/angle_rad",
    "steering/knuckle_right/angle_rad", "steering/tyre_left/torque_nm", "steering/tyre_right/torque_nm",
)  # fmt: skip
WINDOW = (1400, 4200)  # all strips can be seen
BARS = {
    "first_paint_s": 1.0,
    "transfer_kb": 500.0,
    "main_thread_ms_a_frame": 12.0,
    "server_cpu_percent": 10.0,
}
START_S = 60.0


def main() -> int:
    """Measure, and print the figures beside their bars."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=8.0, help="of the page that plays")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    began = time.monotonic()

    def tell(text: str) -> None:
        sys.stderr.write(f"{time.monotonic() - began:4.0f} s  {text}\n")

    with served(RIG, tell) as service:
        tell(f"recording {RECORDED_S:g} s")
        time.sleep(RECORDED_S)
        found = measured(service.stop(), options.seconds, tell)
    good = all(found[name] <= bar for name, bar in BARS.items())
    if options.json:
        print(json.dumps({"good": good, "bars": BARS, **found}))
    else:
        for name, value in found.items():
            print(f"{name:26} {value:10.3f}" + (f"   bar {BARS[name]:g}" if name in BARS else ""))
    return 0 if good else 1


def measured(run: Path, seconds: float, tell: Tell) -> dict[str, Any]:
    """Play a record in a page; return the figures."""
    with tempfile.TemporaryFile("w+") as said, Chromium(*WINDOW) as browser:
        write_layout(layout_file("rig", None), Layout(strips=[[path] for path in STRIPS]))
        command = [
            sys.executable,
            "-m",
            "rigloop",
            "monitor",
            str(run),
            "--no-browser",
            "--port",
            "0",
        ]
        server = subprocess.Popen(command, stdout=said)
        try:
            url = address(said, server)
            tell("a page opens")
            browser.look(*WINDOW)
            browser.open(url)
            browser.until("rigloop.strips.live.nowS > 0 && rigloop.scene.poses[0]")
            paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
            first_paint_s = 1e-3 * browser.until(paint)
            tell(f"it is watched for {seconds:g} s")
            seek = f"(document.querySelector('#place').value = {AT}, rigloop.controls.seek(), 1)"
            browser.run(seek)
            browser.until("rigloop.strips.live.nowS > 10")  # the strips are full
            browser.ask("Performance.enable", timeDomain="threadTicks")
            before, cpu = busy_s(browser), cpu_s(server.pid)
            frames = browser.run("rigloop.strips.drawn")
            began = time.monotonic()
            time.sleep(seconds)
            took = time.monotonic() - began
            spent_s, cpu = busy_s(browser) - before, cpu_s(server.pid) - cpu
            frames = browser.run("rigloop.strips.drawn") - frames
        finally:
            server.terminate()
            server.wait()
    sizes = [
        event["params"]["encodedDataLength"]
        for event in browser.events
        if event.get("method") == "Network.loadingFinished"
    ]
    return {
        "first_paint_s": first_paint_s,
        "transfer_kb": sum(sizes) * 1e-3,
        "main_thread_ms_a_frame": 1e3 * spent_s / max(1, frames),
        "frames_a_second": frames / took,
        "server_cpu_percent": 100.0 * cpu / took,
    }


def address(said: Any, server: subprocess.Popen[bytes]) -> str:
    """Return the address that the command prints."""
    until = time.monotonic() + START_S
    while time.monotonic() < until and server.poll() is None:
        said.seek(0)
        if found := re.search(r"http://\S+", said.read()):
            return found[0]
        time.sleep(0.05)
    raise TimeoutError("rigloop monitor does not say where it is")


def busy_s(browser: Chromium) -> float:
    """Return the processor time of the page's main thread so far."""
    metrics = browser.ask("Performance.getMetrics")["metrics"]
    return next(one["value"] for one in metrics if one["name"] == "TaskDuration")


def cpu_s(pid: int) -> float:
    """Return the processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
