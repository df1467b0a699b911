"""A block that does wrong on purpose, and its possible acts."""

cpdef enum Act:
    SET = 0          # cells take the value
    ADD = 1          # the value is added to cells
    BURN = 2         # the thread works for `value` ns more than it has to
    HANG = 3         # the cycle never ends
    FAIL = 4         # the block returns `value` as its status
    MOVE = 5         # the thread leaves the core that it is pinned to
    STEAL = 6        # a thread of higher priority takes the core for `value` ns, at once
    HOLD_CORE = 7    # the same from half a period on: the task is still asleep then
    ORDER = 8        # a cell outside of the table takes the value, 0 when it is over
    KEEP = 9         # cells stay at what they were when it began
    SCALE = 10       # cells are multiplied by the value
