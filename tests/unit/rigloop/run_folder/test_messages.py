"""What supervisor and cycle process tell each other arrives whole, or not at all."""

import msgspec
import pytest

from rigloop.run_folder import messages


def test_order_and_report_come_back_as_they_were_written(tmp_path):
    told = messages.Order("steering", "/dev/shm/table", "veth")
    messages.write(tmp_path, "order.json", told)
    assert messages.read_order(tmp_path) == told
    said = messages.Report(kernels={"steering": "ab"}, at_rest=True, stopped_by="SIGTERM")
    messages.write(tmp_path, "cycle.json", said)
    assert messages.read_report(tmp_path) == said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cycle.json", "order.json"]


def test_no_report_is_none(tmp_path):
    assert messages.read_report(tmp_path) is None


def test_an_order_with_an_unknown_key_is_refused(tmp_path):
    (tmp_path / "order.json").write_text('{"rig": "a", "table": "b", "buss": "veth"}')
    with pytest.raises(msgspec.ValidationError, match="buss"):
        messages.read_order(tmp_path)


@pytest.mark.parametrize(
    "raw", [b'{"\xa6rig": "a"}', b'{"rig": "a\xd3"}', b"\xff", b"", b"[" * 10_000]
)
def test_bytes_that_are_no_message_are_one_kind_of_error(tmp_path, raw):
    for name in ("order.json", "cycle.json"):
        (tmp_path / name).write_bytes(raw)
    for read in (messages.read_order, messages.read_report):
        with pytest.raises((msgspec.DecodeError, RecursionError)):
            read(tmp_path)
