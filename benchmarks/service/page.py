"""The page of `rigloop monitor` in headless Chromium: what it costs a viewer, and what it costs the loop.

    python benchmarks/service/page.py [--only page|lateness|report]... [--seconds 8] [--pairs 30] [--run FOLDER]
        [--anywhere] [--json]

page        a steering rig runs for twenty seconds and is recorded; then nothing but its record plays, in a page with
            twenty strips of ten seconds, a mechanism that moves, and all panels. Bytes are those of the wire,
            compressed, without the files of the thread that paints (three.js, 180 kB). The time of a frame is the
            processor time of the page's main thread (scripts, layout, painting) over the frames that were drawn
            meanwhile: the median of the seconds that it is watched, beside their 90th percentile. What all processes
            of the browser take, and all its threads, stands beside it. 60 s in all
lateness    the rig runs, in pairs of windows: a page is open, with a scope that captures all signals of the rig at
            full rate, one capture after the other, or its server and its browser stand still (SIGSTOP). The browser is
            on the processors on which `rigloop monitor` starts one (docs/page.md); with `--anywhere` on all of them.
            The ratio of the p99 of lateness of each pair, its median with a 95 % interval. 60 s where the host takes
            nothing
report      the report of the recorded run, or of `--run FOLDER`: its size, and the time until all of it is drawn

Needs Chromium, and FIFO priorities for `lateness`. Progress goes to stderr. Exit code 0: every bar holds; 1: one does
not.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from serving.figures import show_figures
from serving.served import Served, Tell, home, served

sys.path.append(str(Path(__file__).parents[1]))
sys.path.append(str(Path(__file__).parents[2] / "tests" / "parts"))

import numpy as np
from chromium import Chromium
from timing.rounds import FLOOR_US, Lateness, interleaved, median_interval

from rigloop import open_run
from rigloop.compose.wiring import load
from rigloop.host.placing import stay_beside
from rigloop.monitor.layouts import layout_file, write_layout
from rigloop.monitor.messages import Layout
from rigloop.monitor.sources.description import description_of
from rt_core.lateness.histogram import Histogram
from rt_core.signals.table import SignalTable

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
    "lateness_ratio": 1.1,
    "report_mb": 5.0,
    "report_opens_s": 1.0,
}
START_S = 60.0
PARTS = ("page", "lateness", "report")
SETTLE_S, WINDOW_S = 0.3, 0.5  # of the windows of a pair
CAPTURE_S = 0.5


def main() -> int:
    """Measure, and print the figures beside their bars."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=8.0, help="of the page that plays")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only", action="append", choices=PARTS)
    parser.add_argument("--pairs", type=int, default=30, help="of windows, for lateness")
    parser.add_argument("--anywhere", action="store_true", help="the browser, for lateness")
    parser.add_argument("--run", type=Path, help="a run folder, for report")
    options = parser.parse_args()
    parts = options.only or PARTS
    began = time.monotonic()
    found: dict[str, Any] = {}

    def tell(text: str) -> None:
        sys.stderr.write(f"{time.monotonic() - began:4.0f} s  {text}\n")

    if options.run and parts == ["report"]:
        found = reported(options.run, tell)
    else:
        with home() as folder, served(RIG, folder, tell) as service:
            if "lateness" in parts:
                found |= lateness(service, options.pairs, tell, options.anywhere)
            if "page" in parts or "report" in parts:
                tell(f"recording {RECORDED_S:g} s")
                time.sleep(RECORDED_S)
                run = service.stop()
                found |= measured(run, options.seconds, tell) if "page" in parts else {}
                found |= reported(options.run or run, tell) if "report" in parts else {}
    return show_figures(found, BARS, as_json=options.json)


@contextlib.contextmanager
def monitored(what: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Serve a page of a rig or a run; give its process and its address."""
    with tempfile.TemporaryFile("w+") as said:
        command = [sys.executable, "-m", "rigloop", "monitor", what, "--no-browser", "--port", "0"]
        server = subprocess.Popen(command, stdout=said)
        try:
            yield server, address(said, server)
        finally:
            server.send_signal(signal.SIGCONT)
            server.terminate()
            server.wait()


def measured(run: Path, seconds: float, tell: Tell) -> dict[str, Any]:
    """Play a record in a page; return the figures."""
    write_layout(layout_file("rig", None), Layout(strips=[[path] for path in STRIPS]))
    with Chromium(*WINDOW) as browser, monitored(str(run)) as (server, url):
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
        cpu, own_cpu = cpu_s(server.pid), sum(map(cpu_s, descendants(browser.pid)))
        began = time.monotonic()
        busy, frames = [busy_s(browser)], [browser.run("rigloop.strips.drawn")]
        while time.monotonic() - began < seconds:
            time.sleep(1.0)
            busy.append(busy_s(browser))
            frames.append(browser.run("rigloop.strips.drawn"))
        took = time.monotonic() - began
        cpu = cpu_s(server.pid) - cpu
        own_cpu = sum(map(cpu_s, descendants(browser.pid))) - own_cpu
    ms_a_frame = 1e3 * np.diff(busy) / np.maximum(np.diff(frames), 1)
    sizes = [
        event["params"]["encodedDataLength"]
        for event in browser.events
        if event.get("method") == "Network.loadingFinished"
    ]
    return {
        "first_paint_s": first_paint_s,
        "transfer_kb": sum(sizes) * 1e-3,
        "main_thread_ms_a_frame": float(np.median(ms_a_frame)),
        "main_thread_ms_a_frame_p90": float(np.percentile(ms_a_frame, 90)),
        "main_thread_percent": 100.0 * (busy[-1] - busy[0]) / took,
        "browser_cpu_percent": 100.0 * own_cpu / took,
        "frames_a_second": (frames[-1] - frames[0]) / took,
        "server_cpu_percent": 100.0 * cpu / took,
    }


@contextlib.contextmanager
def placed(rig: str, anywhere: bool) -> Iterator[None]:
    """Have what is started meanwhile run where `rigloop monitor` starts a browser."""
    before = os.sched_getaffinity(0)
    if not anywhere:
        stay_beside(description_of(load(rig)).tasks)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def lateness(service: Served, pairs: int, tell: Tell, anywhere: bool) -> dict[str, Any]:
    """Measure pairs of windows in random order."""
    table = SignalTable.attach(service.status().table)
    tasks = list(open_run(service.status().folder).tasks)
    with contextlib.ExitStack() as stack:
        with placed(service.rig, anywhere):
            browser = stack.enter_context(Chromium())
        server, url = stack.enter_context(monitored(service.rig))
        browser.open(url)
        browser.until("rigloop.strips.live.nowS > 0")
        n = browser.run(
            "(rigloop.scope.signals = [...rigloop.units.keys()].slice(0, 1000), rigloop.scope.plots.repaint(), "
            "rigloop.send({do: 'capture', signals: rigloop.scope.signals, trigger: 'now', pre_s: 0, "
            f"post_s: {CAPTURE_S}, mode: 'normal', pixels: 1000}}), rigloop.scope.signals.length)"
        )
        browser.until("rigloop.scope.captures > 2")
        tell(f"a page is open, its scope captures {n} signals")
        stopped = [server.pid, *descendants(browser.pid)]
        before = browser.run("rigloop.scope.captures")

        def window(is_watched: bool) -> Lateness:
            for pid in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT if is_watched else signal.SIGSTOP)
            time.sleep(SETTLE_S)
            first = {task: table.histograms(task)["late"] for task in tasks}
            time.sleep(WINDOW_S)
            seen: dict[str, Histogram] = {
                task: table.histograms(task)["late"] - first[task] for task in tasks
            }
            for pid in stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
            each = {task: Lateness.of(found) for task, found in seen.items()}
            return Lateness.of(seen[tasks[0]], **each)

        variants = {"with": partial(window, True), "without": partial(window, False)}
        done = interleaved(variants, pairs, tell)
        captures = browser.run("rigloop.scope.captures") - before
    table.close()
    found: dict[str, Any] = {"pairs": done.n, "left_out": done.dropped, "signals": n}
    found |= {"captures": captures, "stolen_ticks": done.stolen}
    worst = 0.0
    for task in tasks:
        ours, alone = (
            [max(FLOOR_US, one.p99) for one in done.facts(variant, task)] for variant in variants
        )
        low, median, high = median_interval([ours[i] / alone[i] for i in range(done.n)])
        worst = max(worst, median)
        found |= {f"ratio_{task}": median, f"ratio_{task}_low": low, f"ratio_{task}_high": high}
        found[f"p99_{task}_with_us"] = statistics.median(ours)
        found[f"p99_{task}_without_us"] = statistics.median(alone)
    return found | {"lateness_ratio": worst}


def reported(run: Path, tell: Tell) -> dict[str, Any]:
    """Open the report of a run; return the figures."""
    tell(f"the report of {run}")
    subprocess.run(
        [sys.executable, "-m", "rigloop", "report", str(run)], capture_output=True, check=False
    )
    page = (run / "report.html").resolve()
    with Chromium(1400, 1000) as browser:
        browser.ask("Performance.enable", timeDomain="threadTicks")
        before = busy_s(browser)
        browser.open(page.as_uri())
        browser.until("document.documentElement.classList.contains('viewed')")
        drawn = browser.run("rigloopDrawnMs ?? performance.now()")
        busy = busy_s(browser) - before
    return {
        "report_mb": page.stat().st_size * 1e-6,
        "report_opens_s": 1e-3 * float(drawn),
        "report_main_thread_s": busy,
    }


def descendants(pid: int) -> list[int]:
    """Return a process and all that it has started."""
    found = [pid]
    for folder in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):
            for child in (folder / "children").read_text().split():
                found += descendants(int(child))
    return found


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
