"""Base of the links; see link.pxd."""


cdef class Link:
    """Carries the cycle's frames. Not used by itself: `SegmentLink` or `PacketSocket`."""

    def __cinit__(self, *args, **kwargs):
        if type(self) is Link:
            raise TypeError("Link carries nothing by itself: use SegmentLink or PacketSocket")
