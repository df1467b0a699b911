"""Time limits of a device, by its ESI: `Info/StateMachine/Timeout` and `Info/Mailbox/Timeout` (ETG.2000), in ms."""

from __future__ import annotations

from io_bridge.esi.document import Located, Reading
from io_bridge.slaves.state_limits import STANDARD, StateLimits
from rig_configs.section import LONGEST_WAIT_S

MOST_MS = int(1000 * LONGEST_WAIT_S)
TIMEOUTS = {
    "Info/StateMachine/Timeout": {
        "PreopTimeout": "preop_s",
        "SafeopOpTimeout": "safeop_op_s",
        "BackToInitTimeout": "back_s",
        "BackToSafeopTimeout": "back_s",
    },
    "Info/Mailbox/Timeout": {
        "RequestTimeout": "mailbox_request_s",
        "ResponseTimeout": "mailbox_response_s",
    },
}


def read_limits(reading: Reading, device: Located) -> StateLimits:
    """Return the limits of a device, those of the standard where its ESI has none; of two ways back the longer one.

    A time that cannot be is left out with a note: the standard's is right more often.
    """
    found: dict[str, float] = {}
    for path, tags in TIMEOUTS.items():
        for tag, key in tags.items():
            item = device.find(f"{path}/{tag}")
            if not isinstance(item, Located) or not (item.text or "").strip():
                continue
            attempt = Reading(reading.file)
            ms = attempt.number(item, tag, item.text or "", MOST_MS)
            if attempt.mistakes or not ms:
                text = " ".join((item.text or "").split())[:40]
                reading.note(
                    item,
                    f"{text!r}: a time limit is 1 to {MOST_MS} ms; the limit of the standard is used",
                )
                continue
            found[key] = max(found.get(key, 0.0), ms / 1000)
    return StateLimits(**found) if found else STANDARD
