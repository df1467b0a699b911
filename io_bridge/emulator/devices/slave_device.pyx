"""Common parts of every emulated device: a slave controller, its clock, and the faults that can be put
on it."""
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.string cimport memcpy

from io_bridge.emulator.controller.clock cimport clock_set_drift, clock_system_ns
from io_bridge.emulator.controller.memory cimport ESC_MEMORY, PORT_MII, SII_BYTES
from io_bridge.emulator.controller.registers cimport esc_power_on
from io_bridge.wire.fields cimport get16


cdef class SlaveDevice:
    """A device behind an emulated slave controller; subclasses give the application its
    behaviour."""

    def __cinit__(self, *args, **kwargs):
        if type(self) is SlaveDevice:
            raise TypeError("SlaveDevice has no application: use a device such as DriveDevice")
        self.esc.ports[0] = PORT_MII
        self.esc.ports[1] = PORT_MII
        self.esc.has_mailbox = 1
        self.esc.sm_outputs = 2
        self.esc.sm_inputs = 3

    def power_on(self) -> None:
        """Start over as after a power cycle."""
        esc_power_on(&self.esc)

    @property
    def al_status(self) -> int:
        """AL status register: state in the low nibble, bit 4 = error."""
        return self.esc.memory[0x0130]

    @property
    def al_code(self) -> int:
        return get16(self.esc.memory + 0x0134)

    @property
    def clock_drift_ppm(self) -> float:
        """Rate at which the local clock gains on the segment's time."""
        return 1e6 * self.esc.clock.drift

    @clock_drift_ppm.setter
    def clock_drift_ppm(self, value: float) -> None:
        if not -1000.0 <= value <= 1000.0:
            raise ValueError(f"clock_drift_ppm = {value}: -1000 to 1000")
        clock_set_drift(&self.esc, 1e-6 * value)

    @property
    def clock_start_ns(self) -> int:
        """Reading of the local clock at power-up; set it before the device comes into a segment."""
        return self.esc.clock.start_ns

    @clock_start_ns.setter
    def clock_start_ns(self, value: int) -> None:
        if not 0 <= value < 1 << 62:
            raise ValueError(f"clock_start_ns = {value}: 0 to 2^62 - 1")
        self.esc.clock.start_ns = value

    @property
    def system_time_ns(self) -> int:
        """Value that register 0x0910 would give to a frame that is here now."""
        return clock_system_ns(&self.esc)

    @property
    def mute(self) -> bool:
        """True: without power; frames pass by (fault injection)."""
        return bool(self.esc.mute)

    @mute.setter
    def mute(self, value: bool) -> None:
        self.esc.mute = value

    @property
    def frozen(self) -> bool:
        """True: answers with right counters but old inputs and an old clock (fault injection)."""
        return bool(self.esc.frozen)

    @frozen.setter
    def frozen(self, value: bool) -> None:
        self.esc.frozen = value

    @property
    def eeprom(self) -> bytes:
        """EEPROM image; beyond it all bytes are 0xFF. A new one is in effect after the next power-up."""
        return PyBytes_FromStringAndSize(<char *> self.esc.sii, self.esc.sii_size)

    @eeprom.setter
    def eeprom(self, bytes image) -> None:
        cdef const char *source = image
        if len(image) > SII_BYTES:
            raise ValueError(f"EEPROM image of {len(image)} bytes: at most {SII_BYTES} fit")
        memcpy(self.esc.sii, source, len(image))
        self.esc.sii_size = <int> len(image)

    def memory(self, int address, int size) -> bytes:
        """Return controller memory as it is, without the effects a read on the wire has."""
        if address < 0 or size < 0 or address + size > ESC_MEMORY:
            raise ValueError(f"{size} bytes at {address:#06x}: there are {ESC_MEMORY:#06x}")
        return PyBytes_FromStringAndSize(<char *> self.esc.memory + address, size)
