"""A slave whose PDOs are what they are."""
from io_bridge.emulator.devices.described_device cimport DescribedDevice
from io_bridge.emulator.coe.object_dictionary cimport (
    WRITE, WRITE_PREOP, ObjectDictionary, is_pdo_assignment, is_pdo_mapping,
)
from io_bridge.emulator.quirks.quirk cimport Layer, Quirk

from io_bridge.emulator.quirks.option import Option

WHICH = ("both", "mapping", "assignment")


cdef class FixedMapping(Quirk):
    """PDO mapping (0x16xx, 0x1Axx), assignment (0x1C12, 0x1C13) or both are read-only."""

    cdef Layer plain
    cdef int mapping
    cdef int assignment

    OPTIONS = {"which": Option("both", "what is read-only", choices=WHICH)}

    def __init__(self, *, which: str) -> None:
        self.mapping = which != "assignment"
        self.assignment = which != "mapping"
        self.layer = &self.plain

    def attach(self, DescribedDevice device not None) -> None:
        cdef ObjectDictionary *od = &device.behaviour.coe.od
        cdef int i, index
        Quirk.attach(self, device)
        for i in range(od.n_entries):
            index = od.entries[i].index
            if self.mapping and is_pdo_mapping(index) or self.assignment and is_pdo_assignment(index):
                od.entries[i].access &= 0xFF ^ (WRITE | WRITE_PREOP)
