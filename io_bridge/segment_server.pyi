from io_bridge.packet_socket import PacketSocket
from io_bridge.segment import Segment

def serve(
    segment: Segment,
    wire: PacketSocket,
    start_ns: int,
    duration_s: float,
    second: PacketSocket | None = None,
) -> int: ...
