"""An emulated device from its description: EEPROM, object dictionary, mailbox and process data.

It is complete for a device that only has values, such as a coupler; one that does something gives
its behaviour."""
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

from cpython.bytes cimport PyBytes_FromStringAndSize

from io_bridge.emulator.coe.server cimport coe_answer, coe_reset
from io_bridge.emulator.controller.memory cimport (
    AL_INIT, MAILBOX_BYTES, PORT_ABSENT, PORT_EBUS, PORT_MII,
)
from io_bridge.emulator.coe.object_dictionary cimport (
    RECORD, Entry, od_add, od_add_object, od_find, od_free, od_keep, od_make, od_restore,
)
from io_bridge.emulator.coe.pdo_mapping cimport give_inputs, map_pdos, take_outputs

from io_bridge.slaves.device_description import ACCESS, MAPPABLE, all_objects
from io_bridge.slaves.sii import Eeprom, image

cdef enum:
    SII_MAILBOX = 0x18 * 2     # where an EEPROM has the place and size of both mailboxes


cdef void powered(void *self) noexcept nogil:
    cdef Behaviour *b = <Behaviour *> self
    od_restore(&b.coe.od)
    coe_reset(&b.coe)
    if b.powered != NULL:
        b.powered(b.device)


cdef int map_both(void *self, int *n_outputs, int *n_inputs) noexcept nogil:
    return map_pdos(&(<Behaviour *> self).coe.od, n_outputs, n_inputs)


cdef void take(void *self, const uint8_t *data, int n) noexcept nogil:
    cdef Behaviour *b = <Behaviour *> self
    take_outputs(&b.coe.od, data, n)
    if b.outputs != NULL:
        b.outputs(b.device)


cdef void give(void *self, uint8_t *data, int n) noexcept nogil:
    cdef Behaviour *b = <Behaviour *> self
    if b.sample != NULL:
        b.sample(b.device)
    if n:
        give_inputs(&b.coe.od, data, n)


cdef void advance(void *self, int64_t t_ns) noexcept nogil:
    cdef Behaviour *b = <Behaviour *> self
    if b.advance != NULL:
        b.advance(b.device, t_ns)


cdef void al_changed(void *self, int state, int code) noexcept nogil:
    cdef Behaviour *b = <Behaviour *> self
    if state == AL_INIT:
        coe_reset(&b.coe)
    if b.changed != NULL:
        b.changed(b.device, state, code)


cdef void fail(void *self, int error_code) noexcept nogil:
    cdef Behaviour *b = <Behaviour *> self
    if b.fail != NULL:
        b.fail(b.device, error_code)


cdef int mailbox(void *self, const uint8_t *request, int n, uint8_t *reply, int capacity,
                 int al_state, int *more) noexcept nogil:
    return coe_answer(&(<Behaviour *> self).coe, request, n, reply, capacity, al_state, more)


cdef class DescribedDevice(SlaveDevice):
    """A device that has the objects of its description and does nothing.

    Parameters
    ----------
    description : Description
    """

    def __dealloc__(self):
        od_free(&self.behaviour.coe.od)

    def __init__(self, description) -> None:
        self._describe(description)
        self.power_on()

    cdef int _describe(self, description) except -1:
        """Set up all but the behaviour; the subclass gives that, and calls `power_on`."""
        cdef bytes text
        cdef const char *source
        cdef int i
        self.description = description
        self.quirks = ()
        od_free(&self.behaviour.coe.od)
        memset(&self.behaviour, 0, sizeof(Behaviour))
        for i, port in enumerate(description.ports):
            self.esc.ports[i] = {"": PORT_ABSENT, "mii": PORT_MII, "ebus": PORT_EBUS}[port]
        for i in range(len(description.ports), 4):
            self.esc.ports[i] = PORT_ABSENT
        self.esc.has_mailbox = description.mailbox_bytes > 0
        if description.mailbox_bytes > MAILBOX_BYTES:
            raise ValueError(f"mailbox_bytes = {description.mailbox_bytes}: at most {MAILBOX_BYTES}")
        self.esc.sm_outputs = description.manager_of(3)
        self.esc.sm_inputs = description.manager_of(4)
        objects = all_objects(description)
        entries = [entry for item in objects for entry in item.entries]
        if od_make(&self.behaviour.coe.od, len(objects), len(entries),
                   sum((entry.bits + 7) // 8 + 7 & ~7 for entry in entries),
                   sum(len(named.name) for named in (*objects, *entries))):
            raise MemoryError("no room for the object dictionary")
        for item in objects:
            text = item.name.encode()
            source = text
            # a record's entries have types of their own
            last = item.entries[len(item.entries) - 1]
            if od_add_object(&self.behaviour.coe.od, item.index, item.code,
                             0 if item.code == RECORD else last.type_code, source, len(text)):
                raise ValueError(f"object {item.index:#06x} ({item.name}): it is there already, "
                                 "or its name has more than 64 characters")
            for entry in item.entries:
                self._add_entry(entry)
        od_keep(&self.behaviour.coe.od)
        self.eeprom = image(Eeprom(
            description.identity, description.name, description.managers, ports=description.ports,
            rx_pdos=description.sii_pdos(description.rx_pdos, 3),
            tx_pdos=description.sii_pdos(description.tx_pdos, 4),
            config=description.config, coe_details=description.coe_details))
        memcpy(self.esc.mailboxes, self.esc.sii + SII_MAILBOX, sizeof(self.esc.mailboxes))
        self.esc.app.self = &self.behaviour
        self.esc.app.powered = powered
        self.esc.app.map_pdos = map_both
        self.esc.app.take_outputs = take
        self.esc.app.give_inputs = give
        self.esc.app.advance = advance
        self.esc.app.al_changed = al_changed
        self.esc.app.mailbox = mailbox
        self.esc.app.fail = fail
        return 0

    cdef int _add_entry(self, entry) except -1:
        cdef bytes name = entry.name.encode()
        cdef const char *source = name
        cdef bytes value
        cdef void *at = od_add(&self.behaviour.coe.od, entry.sub, entry.type_code, entry.bits,
                               ACCESS[entry.access] | MAPPABLE[entry.pdo], source, len(name))
        cdef int size = (entry.bits + 7) // 8
        if at == NULL:
            raise ValueError(f"entry {entry.sub} ({entry.name}): subindices must rise to 254 at most, "
                             "and a name has at most 64 characters")
        if isinstance(entry.value, str):
            value = entry.value.encode()[:size]
        else:
            value = entry.value.to_bytes(size, "little", signed=entry.value < 0)
        source = value
        memcpy(at, source, len(value))
        return 0

    cdef void *_value(self, int index, int subindex, int size) except NULL:
        """Return the address of the value of an object that the behaviour needs."""
        cdef Entry *entry = od_find(&self.behaviour.coe.od, index, subindex)
        if entry == NULL or entry.size != size:
            raise ValueError(f"{self.description.name}: {type(self).__name__} needs object "
                             f"{index:#06x}:{subindex} of {size} bytes")
        return entry.value

    def add_quirk(self, quirk) -> None:
        """Make it behave as some foreign slave does (`io_bridge.emulator.quirks`), over the quirks it has, and
        switch it on again."""
        self.quirks = (*self.quirks, quirk)
        quirk.attach(self)
        self.power_on()

    def object_value(self, int index, int sub) -> bytes:
        """Return the present value of an object."""
        cdef Entry *entry = od_find(&self.behaviour.coe.od, index, sub)
        if entry == NULL:
            raise KeyError(f"{self.description.name} has no object {index:#06x}:{sub}")
        return PyBytes_FromStringAndSize(<char *> entry.value, entry.length)
