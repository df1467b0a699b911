"""Ports, branches and cables. A frame enters a slave at port 0, is processed, and leaves in the port
order 3, 1, 2; behind each open port it passes all that hangs there before it comes back."""
from libc.stdint cimport int64_t, uint8_t

from io_bridge.emulator.controller.memory cimport N_PORTS, PORT_ABSENT, PORT_MII, REG_DL_STATUS, Esc
from io_bridge.emulator.controller.registers cimport esc_power_on
from io_bridge.wire.fields cimport put16

cdef enum:
    FORWARD_NS = 300           # through a slave, from any port to the next

cdef int[3] PORT_ORDER = [3, 1, 2]


cdef int child_at(const Ring *ring, int slave, int port) noexcept nogil:
    cdef int i
    for i in range(slave + 1, ring.n):
        if ring.parent[i] == slave and ring.parent_port[i] == port:
            return i
    return -1


cdef int free_port(const Ring *ring, int slave, uint8_t physics) noexcept nogil:
    """The next port without a connection that the frame has not left already."""
    cdef int i, port
    cdef int found = -1
    for i in range(3):
        port = PORT_ORDER[i]
        if child_at(ring, slave, port) >= 0:
            found = -1
        elif found < 0 and ring.slaves[slave].ports[port] == physics:
            found = port
    return found


cdef int ring_attach(Ring *ring) noexcept nogil:
    """Connect each slave to the nearest one before it that has a fitting free port; EtherCAT to
    EtherCAT, E-bus to E-bus. Return -1, or the position of the first slave that fits nowhere."""
    cdef int i, at, port
    cdef int n = ring.n
    for i in range(n):
        ring.parent[i] = -1
        ring.parent_port[i] = 0
        if i == 0:
            if ring.slaves[0].ports[0] != PORT_MII:
                return 0
            continue
        # those behind do not count yet
        ring.n = i
        at = i - 1
        port = free_port(ring, at, ring.slaves[i].ports[0])
        while port < 0 and at > 0:
            at = ring.parent[at]
            port = free_port(ring, at, ring.slaves[i].ports[0])
        ring.n = n
        if port < 0:
            return i
        ring.parent[i] = at
        ring.parent_port[i] = port
    return -1


cdef int reachable(const Ring *ring, int slave) noexcept nogil:
    return not ring.unplugged[slave] and not ring.off[slave]


cdef int64_t visit(Ring *ring, int slave, int64_t t_ns, int linked, int *order,
                   int *n_order) noexcept nogil:
    """Follow a frame that comes in at t_ns through a slave and all behind it. Return when it comes
    out of its port 0. As deep as there are slaves."""
    cdef Esc *esc = ring.slaves[slave]
    cdef int status = 0x01                       # the application runs
    cdef int i, port, child, is_open
    order[n_order[0]] = slave
    n_order[0] += 1
    esc.arrival_ns = t_ns
    for port in range(N_PORTS):
        esc.port_ns[port] = t_ns
    status |= 0x0210 if linked else 0x0100       # port 0: link and communication, or loop closed
    t_ns += FORWARD_NS
    for i in range(3):
        port = PORT_ORDER[i]
        child = child_at(ring, slave, port) if esc.ports[port] != PORT_ABSENT else -1
        is_open = child >= 0 and reachable(ring, child)
        if is_open:
            t_ns = visit(ring, child, t_ns + ring.cable_ns[child], 1, order, n_order)
            t_ns += ring.cable_ns[child]
            esc.port_ns[port] = t_ns
            t_ns += FORWARD_NS
        status |= 0x10 << port if is_open else 0
        status |= (0x02 if is_open else 0x01) << (8 + 2 * port)
    put16(esc.memory + REG_DL_STATUS, <unsigned short> status)
    return t_ns


cdef int root_of(const Ring *ring, int slave) noexcept nogil:
    """The first slave that a frame from `slave` back to the master still gets to; -1 = the
    master."""
    while not ring.unplugged[slave]:
        if ring.parent[slave] < 0:
            return -1
        if ring.off[ring.parent[slave]]:
            return slave
        slave = ring.parent[slave]
    return slave


cdef void ring_route(Ring *ring) noexcept nogil:
    """Work out who is reached, in which order and when; set the link status of those."""
    cdef int last = ring.n - 1
    cdef int root
    ring.n_order = 0
    ring.n_far = 0
    ring.closed = 0
    if reachable(ring, 0):
        visit(ring, 0, ring.cable_ns[0], 1, ring.order, &ring.n_order)
    if ring.off[last] or ring.unplugged[ring.n]:
        return
    root = root_of(ring, last)
    ring.closed = root < 0
    if root >= 0:
        visit(ring, root, ring.cable_ns[root], 0, ring.far_order, &ring.n_far)


cdef void ring_plug(Ring *ring, int position, int plugged) noexcept nogil:
    """Put in or pull out the cable that leads from a slave towards the master; at n, the one from the far
    end."""
    ring.unplugged[position] = not plugged
    ring_route(ring)


cdef void ring_power(Ring *ring, int position, int on) noexcept nogil:
    """Without supply a slave forgets its registers and forwards nothing."""
    ring.off[position] = not on
    esc_power_on(ring.slaves[position])
    ring_route(ring)
