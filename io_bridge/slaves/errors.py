"""Errors between a master and a slave, outside the cycle."""

from __future__ import annotations

from io_bridge.slaves import words


class BringUpError(RuntimeError):
    """The segment could not be brought up, or a slave not be asked; the message names slave, step and cause."""


class NoReplyError(BringUpError):
    """A frame did not come back, or came back damaged."""


class SdoAbortError(BringUpError):
    """The slave refused an object; `code` says why."""

    def __init__(self, called: str, index: int, subindex: int, code: int) -> None:
        super().__init__(f"{called}: SDO {index:#06x}:{subindex} aborted: {words.sdo_abort(code)}")
        self.code: int = code

    @classmethod
    def heard(cls, said: str, code: int) -> SdoAbortError:
        """Return the error that another process had and put in words."""
        error = cls.__new__(cls)
        RuntimeError.__init__(error, said)
        error.code = code
        return error
