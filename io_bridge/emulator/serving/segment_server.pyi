from io_bridge.emulator.segment import Segment
from io_bridge.wire.packet_socket import PacketSocket

def serve(
    segment: Segment,
    wire: PacketSocket,
    start_ns: int,
    duration_s: float,
    second: PacketSocket | None = None,
) -> int: ...
