"""Python's view of the decision in cause.pxd."""


def attribute_cycle(
    *, deadline_ns, woke_ns, begin_ns, end_ns, limit_ns, cpu_ns, blocks_ns,
    bus_ns=0, bus_wait_ns=0, usual_own_ns=0, usual_bus_ns=0, usual_rest_ns=0,
):
    cdef Facts facts
    facts.deadline_ns = deadline_ns
    facts.woke_ns = woke_ns
    facts.begin_ns = begin_ns
    facts.end_ns = end_ns
    facts.limit_ns = limit_ns
    facts.cpu_ns = cpu_ns
    facts.blocks_ns = blocks_ns
    facts.bus_ns = bus_ns
    facts.bus_wait_ns = bus_wait_ns
    facts.usual_own_ns = usual_own_ns
    facts.usual_bus_ns = usual_bus_ns
    facts.usual_rest_ns = usual_rest_ns
    return Cause(<int>attribute(&facts))


# cause -> its words
WORDS = {
    Cause.LATE_WAKE: "late wake",
    Cause.STOLEN: "stolen",
    Cause.OWN: "own work",
    Cause.BUS: "bus",
    Cause.UNTOLD: "untold",
}


def signal_of(cause):
    return f"overruns_{Cause(cause).name.lower()}"


def explain_overruns(counts):
    found = [f"{n:.0f} {WORDS[cause]}" for cause, n in counts.items() if n]
    return ", ".join(found)
