"""The page of a rig in a real browser: it moves, tunes, arms, stops, shows a fault, and comes back after restarts."""

import contextlib
import json
import os
import re
import struct
import subprocess
import sys
import urllib.error
import urllib.request
from itertools import pairwise

import chromium
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from rigloop.protocol import requests as asked
from rigloop.protocol.client import ServiceClient, ServiceError

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        chromium.found() is None and not os.environ.get("RIGLOOP_NEEDS_CHROMIUM"),
        reason="Chromium is missing: apt-get install chromium",
    ),
]
START_S = 120.0
INK = """(one) => { const it = document.querySelector(one); if (!it?.width) return 0;
  const { data } = it.getContext('2d').getImageData(0, 0, it.width, it.height);
  return data.reduce((n, a, k) => n + (k % 4 === 3 && a > 0), 0); }"""
PAINTED = """((one) => { const it = Object.assign(document.createElement('canvas'), { width: 1000, height: 300 });
  it.getContext('2d').drawImage(one, 0, 0);
  const { data } = it.getContext('2d').getImageData(0, 0, 1000, 300);
  return data.reduce((n, a, k) => n + (k % 4 === 3 && a > 0), 0); })"""
TITLE = "<img src=x onerror=document.title='owned'> & wheel"
MORE = """
[blocks.assist]
kind = "gain"
gain = 1.0
unit = "Nm"
reads = { u = "steering/guide/torque_nm" }

[live.effort]
block = "assist"
parameter = "gain"
unit = "1"
lower = 0.0
upper = 1.5
rate_per_s = 10.0
start = 1.0

[stimuli.shake]
block = "guard"
input = "torque_request_nm"
unit = "Nm"
limit = 1.0
signal = { kind = "sine", amplitude = 0.2, frequency_hz = 5.0 }
"""


class Place:
    """A service and the server of its page, each of which may be ended and started again."""

    def __init__(self, rig, folder):
        self.rig, self.folder = rig, folder
        self.processes = {}

    def start(self, name, *arguments):
        log = self.folder / f"{name}.log"
        with log.open("w") as out:
            command = [sys.executable, "-m", "rigloop", name, *map(str, arguments)]
            self.processes[name] = subprocess.Popen(command, stdout=out, stderr=out)
        return log

    def end(self, name):
        if process := self.processes.pop(name, None):
            process.kill()
            process.wait()

    def serve(self, wait_for):
        self.start("serve", self.rig, "--no-report", "--runs", self.folder / "runs")

        def answers():
            with contextlib.suppress(ServiceError):
                ServiceClient(self.rig.stem).close()
                return True

        wait_for(answers, START_S, "an answer of the service")

    def monitor(self, wait_for, port=0):
        log = self.start("monitor", self.rig, "--no-browser", "--port", port)
        found = wait_for(lambda: re.search(r"http://\S+", log.read_text()), START_S, "an address")
        return found[0]


@pytest.fixture(scope="module")
def place(make_rig, tmp_path_factory):
    before = dict(os.environ)
    folder = tmp_path_factory.mktemp("p", numbered=True)
    for kind in ("RUNTIME_DIR", "STATE_HOME", "CONFIG_HOME"):
        (folder / kind).mkdir(mode=0o700)
        os.environ[f"XDG_{kind}"] = str(folder / kind)
    rig = make_rig()
    text = re.sub(r"(?m)^title = .*", f"title = {json.dumps(TITLE)}", rig.read_text())
    text = text.replace('blocks = ["steering"]', 'blocks = ["steering", "assist"]')
    text = text.replace('"steering/guide/torque_nm"\nrequest_cycle', '"assist/y"\nrequest_cycle')
    rig.write_text(text + MORE)
    made = Place(rig, folder)
    yield made
    for name in list(made.processes):
        made.end(name)
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="module")
def url(place, wait_for):
    place.serve(wait_for)
    return place.monitor(wait_for)


@pytest.fixture(scope="module")
def browser(url):
    with chromium.Chromium(900, 700) as made:
        made.open(url)
        made.until("document.querySelector('#take').matches(':enabled')", START_S)
        yield made


def control(browser, have):
    """Take control, or give it back."""
    begins = "Give" if have else "Take"
    if not browser.text("#take").startswith("Give" if have else "Take"):
        browser.click("#take")
    browser.until(f"document.querySelector('#take').innerText.startsWith('{begins}')")


def arm(browser):
    control(browser, True)
    browser.click("#arm")
    assert browser.text("#arm") == "Arm now?"  # the first click asks
    browser.click("#arm")


def state_is(browser, *words):
    browser.until(f"{json.dumps(words)}.includes(document.querySelector('#state').innerText)")


def status_of(url, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def socket_status(url, **given):
    """Return the answer to a websocket of a stranger; 101: it was let in."""
    try:
        with connect(url.replace("http", "ws").replace("/?", "/ws?"), **given):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


def test_strangers_are_refused(url):
    bare, _, token = url.partition("?")
    port = bare.split(":")[2].rstrip("/")
    own = bare.rstrip("/")
    assert status_of(url) == 200
    assert socket_status(url, origin=own) == 101
    for wrong in (bare, f"{bare}?token=", f"{bare}?token={'a' * 43}", f"{url}&token=b"):
        assert status_of(wrong) == 403
    assert status_of(url, Host=f"rig.example:{port}") == 403
    assert status_of(url, Origin="http://evil.example") == 403
    assert status_of(f"{bare}static/../gate.py") in (400, 404)
    assert socket_status(url, origin="http://evil.example") == 403
    assert socket_status(url, origin=None) == 403
    assert socket_status(bare + "?", origin=own) == 403
    assert token not in urllib.request.urlopen(url).read().decode()


def test_the_page_moves_tunes_and_stops(browser, place, wait_for):
    assert browser.text("#title") == TITLE  # a name with markup is text
    assert browser.run("document.querySelectorAll('h1 img').length") == 0
    assert browser.text("#state") == "No run"
    assert browser.run("document.querySelector('#arm').disabled")  # without control
    arm(browser)
    state_is(browser, "Armed")

    # cycles come, the mechanism moves, and the loop's times are there
    browser.until("rigloop.strips.live.nowS > 0.5")
    first = browser.run("rigloop.strips.live.nowS")
    browser.until(f"rigloop.strips.live.nowS > {first} + 0.5")
    browser.until("rigloop.scene.poses[0]?.length > 100")
    pose = browser.run("Array.from(rigloop.scene.poses[0])")
    browser.until(f"rigloop.scene.poses[0].some((x, k) => Math.abs(x - {pose}[k]) > 1e-4)")
    browser.until("document.querySelectorAll('#histograms canvas').length === 2")
    assert "OP" in browser.text("#bus-rows")
    assert "RUNNING" in browser.text("#guards")

    # a live value within its limits, one beyond them, and a stimulus
    tune = "document.querySelector('.tune input[type=number]')"
    for value in (0.5, 7):
        browser.run(f"{tune}.value = {value}; {tune}.dispatchEvent(new Event('change'))")
        browser.until(
            "Number(document.querySelector('.tune .value').innerText) === 0.5"
            if value < 1
            else "document.querySelector('#said').innerText.includes('effort')"
        )
    browser.click("#stimuli button")
    browser.until("document.querySelector('.stimulus .value').innerText === 'runs'")

    # zoom while cycles come in: full rate where a hundred milliseconds fill the strip
    browser.run(
        "rigloop.strips.zoom(rigloop.strips.live.nowS - 0.3, rigloop.strips.live.nowS - 0.2)"
    )
    browser.until("rigloop.strips.zoomed.cycles?.grids.size > 0")
    widths = browser.run("[...rigloop.strips.zoomed.cycles.grids.values()].map(g => g.bucketNs)")
    assert min(widths) == 200_000
    assert browser.text("#hold") == "Go on"
    held = browser.run("rigloop.strips.live.nowS")
    browser.until(f"rigloop.strips.live.nowS > {held} + 0.2")
    browser.run("rigloop.strips.release()")

    # the layout is a file beside the rig
    browser.run("document.querySelector('#wanted').value = 'guard/state'")
    browser.run("document.querySelector('#add').requestSubmit()")
    kept = place.rig.with_name("steering.page.json")
    browser.until("rigloop.strips.live.value('guard/state') === 2")
    browser.until("document.querySelector('#said').innerText === 'the layout is kept'")
    assert ["guard/state"] in json.loads(kept.read_text())["strips"]

    a_scale_is_set_by_hand(browser, kept, wait_for)
    scope_triggers(browser, place)
    scope_level_is_dragged(browser)

    browser.key("Escape")
    state_is(browser, "No run")
    browser.until("document.querySelector('#words').innerText.includes('verdict')")
    control(browser, False)
    wrong = [e for e in browser.problems() if "GL Driver" not in json.dumps(e)]
    assert not wrong


def a_scale_is_set_by_hand(browser, kept, wait_for):
    """Drag the numbers of a strip, stretch its scale with a key, and make it automatic again, while cycles come in."""
    strip = "rigloop.strips.strips[0]"
    path = browser.run(f"{strip}.paths[0]")
    browser.until(f"{strip}.y && {PAINTED}(document.querySelector('#rolls-plot')) > 100")
    x, y = browser.run(
        f"(() => {{ const axis = {strip}.box.querySelectorAll('.u-axis')[1]; axis.scrollIntoView({{block: 'center'}});"
        "const box = axis.getBoundingClientRect();"
        "return [box.left + 20, box.top + 20]; })()"
    )
    before = browser.run(f"{strip}.y")
    browser.drag(x, x, y, y + 30)
    chosen = browser.run(f"rigloop.strips.scales.chosen.get('{path}')")
    # the scale followed the values until it was held
    assert chosen[1] - chosen[0] == pytest.approx(before[1] - before[0], rel=0.5)
    browser.until(f"{strip}.plot.scales.y.min === {chosen[0]}")
    browser.key("+")
    finer = browser.run(f"rigloop.strips.scales.chosen.get('{path}')")
    assert finer[1] - finer[0] == pytest.approx((chosen[1] - chosen[0]) / 1.25)
    browser.until(f"{strip}.plot.scales.y.max === {finer[1]}")

    def is_kept():
        return json.loads(kept.read_text())["scales"] == {path: finer}

    wait_for(is_kept, START_S, "a layout with the scale")
    browser.key("Home")
    browser.until(
        f"rigloop.strips.scales.chosen.size === 0 && {strip}.plot.scales.y.max !== {finer[1]}"
    )


def scope_triggers(browser, place):
    """Catch an edge, out of the rings of the run, look into it at full rate, measure, store and compare it."""
    choose = (
        "(document.querySelector('#{id}').value = {value},"
        " document.querySelector('#{id}').dispatchEvent(new Event('change', {{bubbles: true}})), 1)"
    )

    def pick(number, value):
        browser.run(choose.format(id=number, value=json.dumps(value)))

    for field, value in (
        ("scope-kind", "rises above"), ("scope-signal", "wheel/angle_rad"), ("scope-level", "0.05"),
        ("scope-pre", "0.05"), ("scope-post", "0.2"),
    ):  # fmt: skip
        pick(field, value)
    assert browser.run("document.querySelector('#scope-trigger').value") == (
        "wheel/angle_rad > 0.05 rising"
    )
    browser.click("#scope-arm")
    browser.until("document.querySelector('#scope-state').innerText === 'done, 1 capture'")
    trace = "rigloop.scope.capture.traces.find(({path}) => path === 'wheel/angle_rad')"
    assert browser.run("rigloop.scope.lost") == 0
    assert browser.run("document.querySelectorAll('#scope-plots canvas').length") >= 2
    browser.run("rigloop.scope.look([-0.01, 0.01])")  # as dragging does
    browser.until("rigloop.scope.capture.view?.[0] === -0.01")
    # a loop on a busy machine may have skipped the cycles before: a gap has no value
    before, after = browser.run(
        f"(({{x, y}}) => {{ const known = x.flatMap((t, k) => (y[k] == null ? [] : [[t, y[k]]]));"
        f"const at = known.findIndex(([t]) => t >= -1e-9); return [known[at - 1][1], known[at][1]]; }})({trace})"
    )
    assert before <= 0.05 < after + 1e-6
    browser.click("#scope-spectra")
    browser.until("document.querySelectorAll('#scope-lines canvas').length >= 2")
    browser.run("(document.querySelector('#scope-name').value = 'first', 1)")
    browser.click("#scope-save")
    browser.until("document.querySelector('#scope-stored').value === 'first'")
    assert (place.rig.with_name("steering.captures") / "first.npz").is_file()
    browser.click("#scope-compare")
    browser.until("document.querySelector('#scope-plots').innerText.includes('apart by 0')")
    browser.click("#scope-now")
    browser.until("rigloop.scope.capture.view === null && rigloop.scope.beside")

    # one signal over another, and all of them in one picture
    pick("scope-over", "wheel/angle_rad")
    pick("scope-up", "guard/torque_nm")
    browser.until(f"({INK})('#scope-across') > 100")
    browser.click("#scope-one")
    browser.until(f"({INK})('#scope-together canvas') > 1000")
    assert browser.run("document.querySelector('#scope-plots .uplot').offsetHeight") == 0
    browser.click("#scope-one")
    browser.until("document.querySelector('#scope-plots .uplot').offsetHeight > 0")


def scope_level_is_dragged(browser):
    """Drag the level in the plot of its signal while the scope waits: it waits for the new one."""
    browser.run("(document.querySelector('#scope-level').value = '0.3', rigloop.scope.moved(), 1)")
    browser.click("#scope-arm")
    browser.until("document.querySelector('#scope-state').innerText.startsWith('armed')")
    plot = "rigloop.scope.plots.plots.get('wheel/angle_rad').plot"
    browser.run(f"({plot}.root.scrollIntoView({{block: 'center'}}), 1)")
    browser.until(f"{plot}.data[0].length > 0")  # it is filled once it can be seen
    top = f"{plot}.over.getBoundingClientRect().top"
    browser.until(f"window.lastTop === (window.lastTop = {top})")  # others above it are filled, too
    x, y, to = browser.run(
        "(u => { const box = u.over.getBoundingClientRect();"
        "const y = rigloop.scope.plots.levels.height(u, 'scope-level');"
        f"return [box.left + 50, box.top + y, box.top + box.height - 10]; }})({plot})"
    )
    browser.drag(x, x, y, to)
    level = float(browser.run("document.querySelector('#scope-level').value"))
    assert level < 0.3
    path, _, number, kind = browser.run("rigloop.scope.armed.trigger").split()
    assert (path, float(number), kind) == ("wheel/angle_rad", level, "rising")
    assert browser.run("rigloop.scope.capture.view") is None  # the plot did not take it for a zoom
    browser.click("#scope-arm")
    browser.until("document.querySelector('#scope-state').innerText.startsWith('off')")


def test_a_fault_is_shown_in_words_and_reset(browser, place):
    with ServiceClient(place.rig.stem, "test") as client:
        token = client.ask(asked.Take).token
        client.ask(asked.Inject, token=token, faults=["drive-fault@0.3"])
        client.ask(asked.Give, token=token)
    arm(browser)
    browser.until("document.querySelector('#faults').innerText.includes('tripped')")
    browser.until("document.querySelector('#state').classList.contains('bad')")
    if not browser.run("document.querySelector('#stop').disabled"):
        browser.click("#stop")
    browser.until("!document.querySelector('#reset').hidden")
    assert browser.run("document.querySelector('#arm').disabled")
    browser.click("#reset")
    browser.until("document.querySelector('#reset').hidden")
    state_is(browser, "No run")


def test_the_page_comes_back_after_restarts(browser, place, url, wait_for):
    port = url.split(":")[2].partition("/")[0]
    browser.run(
        "(document.querySelector('#scope-trigger').value = 'wheel/angle_rad > 1e3 rising', 1)"
    )
    browser.click("#scope-arm")
    browser.until("document.querySelector('#scope-state').innerText === 'waits for a run'")
    place.end("monitor")
    browser.until("document.querySelector('#banner').innerText.includes('not there')")
    assert browser.run("document.querySelector('#stop').disabled")
    assert place.monitor(wait_for, port) == url  # the same token: the page that is open finds it
    browser.until("document.querySelector('#banner').hidden")

    place.end("serve")
    browser.until("document.querySelector('#banner').innerText.includes('Looking for it')")
    place.serve(wait_for)
    browser.until("document.querySelector('#banner').hidden")
    state_is(browser, "No run")
    # a new service knows of no control, and the page hears of that
    browser.until("document.querySelector('#take').innerText.startsWith('Take')")

    # a scope that waits goes on waiting, whoever was away, and sees the next run
    browser.until("document.querySelector('#scope-state').innerText === 'waits for a run'")
    arm(browser)
    browser.until("document.querySelector('#scope-state').innerText === 'armed'")
    browser.click("#stop")
    state_is(browser, "No run")
    browser.until("document.querySelector('#scope-state').innerText === 'waits for a run'")
    arm(browser)
    browser.until("document.querySelector('#scope-state').innerText === 'armed'")
    browser.click("#stop")
    state_is(browser, "No run")


def foxglove_connects(url):
    """Connect as Foxglove and Lichtblick do, from their own site, by either name; subscribe; get every cycle."""
    bare = url.partition("?")[0]
    for wrong, given in ((bare, {}), (f"{bare}?token=b", {})):
        assert socket_status(wrong, subprotocols=["foxglove.sdk.v1"], **given) == 403
    site = "https://app.example"
    for offered, taken in (
        (["foxglove.websocket.v1"], "foxglove.websocket.v1"),
        (["foxglove.sdk.v1"], "foxglove.sdk.v1"),
    ):
        with connect(url, subprotocols=offered, origin=site) as socket:
            assert socket.subprotocol == taken
            assert json.loads(socket.recv(10))["op"] == "serverInfo"
            channels = {c["topic"]: c for c in json.loads(socket.recv(10))["channels"]}
            assert "float64 angle_rad # angle_rad [rad]" in channels["/wheel"]["schema"]
            wanted = {"id": 7, "channelId": channels["/wheel"]["id"]}
            socket.send(json.dumps({"op": "subscribe", "subscriptions": [wanted]}))
            frames = [socket.recv(10) for _ in range(20)]
            frames = [one for one in frames if isinstance(one, bytes)]
            heads = [struct.unpack_from("<BIQ", one) for one in frames]
            assert {(code, number) for code, number, _ in heads} == {(1, 7)}
            times = [t_ns for _, _, t_ns in heads]
            assert {b - a for a, b in pairwise(times)} <= {200_000 * k for k in range(1, 50)}
    with connect(url, origin=site) as socket, pytest.raises(ConnectionClosed):
        socket.recv(10)  # it speaks neither


def test_a_recorded_run_plays_through_the_same_page(browser, place, wait_for):
    place.end("serve")
    place.end("monitor")
    # a run of its own: those of the service may have ended early, by a fault on purpose
    place.start("run", place.rig, "--for", 3, "--no-report", "--runs", place.folder / "recorded")
    place.processes["run"].wait(START_S)
    (run,) = (place.folder / "recorded").iterdir()
    log = place.start("monitor", run, "--no-browser", "--port", 0, "--foxglove", 0)
    found = wait_for(lambda: re.search(r"http://\S+", log.read_text()), START_S, "an address")
    other = wait_for(lambda: re.search(r"ws://\S+", log.read_text()), START_S, "the other address")
    foxglove_connects(other[0])
    browser.open(found[0])
    state_is(browser, "Record")
    browser.run("document.querySelector('#speed').value = '20'")
    browser.click("#play")
    browser.click("#play")
    browser.until("rigloop.strips.live.nowS > 1.0")
    browser.until("document.querySelector('#clock').innerText > '1'")
    assert browser.run("document.querySelector('#arm').hidden")
    see = "(document.querySelector('#mechanism').scrollIntoView(), 1)"
    browser.run(see)
    browser.until("rigloop.easel.pictures.space > 1")
    assert browser.run("rigloop.easel.inThreads")

    # a browser whose threads have no canvas draws the same pictures itself
    source = "delete HTMLCanvasElement.prototype.transferControlToOffscreen"
    browser.ask("Page.addScriptToEvaluateOnNewDocument", source=source)
    browser.open(found[0])
    browser.until("rigloop.scene.poses[0]")
    browser.run(see)
    browser.until("rigloop.easel.pictures.space > 1")
    assert not browser.run("rigloop.easel.inThreads")
    browser.run("(document.querySelector('#square').scrollIntoView(), 1)")
    browser.until(f"({INK})('#square-plot') > 100")
    browser.run("(document.querySelector('#strips').scrollIntoView(), 1)")
    browser.until(f"({INK})('#rolls-plot') > 100")
