"""An emulated segment behind a wire, and a look at how long a torque outlives the last frame of its master."""

import threading
import time

from io_bridge.emulator.segment import Segment
from io_bridge.emulator.serving.segment_server import serve
from io_bridge.wire.packet_socket import PacketSocket

LOOK_S = 0.005


class WatchedSegment:
    """Serves `device` on an interface until the end of the `with` block.

    All times are the segment's own. `coarse_ns` is the longest way from one look to the next since the last frame: on
    a busy machine the server is kept waiting, and nothing can be known more finely.
    """

    def __init__(self, device, interface="veth1"):
        self.device = device
        self.segment = Segment([device])
        self.wire = PacketSocket(interface, 0x00, 0xFF)
        self.last_frame_ns = self.coarse_ns = 0
        self.ended_ns = None
        self._ends = threading.Event()
        self._server = threading.Thread(target=self._serve)

    def _serve(self):
        begin = time.monotonic_ns()
        before_ns = 0
        while not self._ends.is_set():
            frames = serve(self.segment, self.wire, begin, LOOK_S)
            now_ns = self.segment.now_ns
            step_ns, before_ns = now_ns - before_ns, now_ns
            if frames:
                self.last_frame_ns, self.coarse_ns, self.ended_ns = now_ns, step_ns, None
            elif self.ended_ns is None:
                self.coarse_ns = max(self.coarse_ns, step_ns)
            if self.ended_ns is None and self.device.wanted_torque_nm == 0.0:
                self.ended_ns = now_ns

    def outlived_ms(self, longest_s=5.0):
        """Wait until the torque has ended; return how long after the last frame, and how coarsely that is known."""
        until = time.monotonic() + longest_s
        while self.ended_ns is None and time.monotonic() < until:
            time.sleep(LOOK_S)
        assert self.ended_ns is not None, "the torque goes on"
        return (self.ended_ns - self.last_frame_ns) / 1e6, self.coarse_ns / 1e6

    def __enter__(self):
        self._server.start()
        return self

    def __exit__(self, *what):
        self._ends.set()
        self._server.join()
        self.wire.close()
