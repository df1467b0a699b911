from io_bridge.slaves import words


def test_codes_are_said_in_words():
    assert words.al_state(0x14) == "SAFEOP+ERROR"
    assert words.al_state(8) == "OP"
    assert words.al_code(0x1B) == "0x001b process data watchdog: the master fell silent"
    assert words.sdo_abort(0x06090011) == "0x06090011 subindex does not exist"


def test_unknown_codes_keep_their_number():
    assert words.al_state(7) == "no AL state (0x7)"
    assert words.al_code(0x9999).startswith("0x9999 vendor-specific")
    assert words.sdo_abort(1) == "0x00000001 unknown abort code"
