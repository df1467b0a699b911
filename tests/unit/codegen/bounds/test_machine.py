"""The costs of this machine: measured once, kept in the user's cache, and never taken from a file that is not whole."""

import json

import pytest

from codegen.bounds import machine
from codegen.bounds.machine import MachineCosts, forget_costs, machine_costs
from codegen.expressions.emit import LATENCY

GIVEN = MachineCosts(*(1.0 + k for k in range(len(machine.WORKS))), processor="none")


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Count the measurements, in a cache of one's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    calls = []
    monkeypatch.setattr(machine, "measure", lambda options: calls.append(options) or GIVEN)
    machine_costs.cache_clear()
    yield calls
    machine_costs.cache_clear()


def again():
    machine_costs.cache_clear()
    return machine_costs()


def test_every_cost_of_this_machine_is_measured():
    costs = machine_costs()
    assert all(0.0 < getattr(costs, name) < 1e5 for name in machine.WORKS)
    assert costs.processor == machine.processor()


def test_costs_are_measured_once_and_then_kept(measured, tmp_path):
    first, second = again(), again()
    assert len(measured) == 1
    assert [getattr(second, name) for name in machine.WORKS] == [
        getattr(first, name) for name in machine.WORKS
    ]
    (kept,) = (tmp_path / "rigloop" / "machines").iterdir()
    assert kept.stat().st_mode & 0o077 == 0


def test_costs_that_are_forgotten_are_measured_again(measured, tmp_path):
    again()
    forget_costs()
    assert not list((tmp_path / "rigloop" / "machines").iterdir())
    machine_costs()
    assert len(measured) == 2


@pytest.mark.parametrize(
    "text", ["", "[]", '{"add": 1.0}', "{", json.dumps(dict.fromkeys(machine.WORKS, -1.0))]
)
def test_costs_that_are_not_whole_are_measured_again(measured, tmp_path, text):
    again()
    (kept,) = (tmp_path / "rigloop" / "machines").iterdir()
    kept.write_text(text)
    again()
    assert len(measured) == 2


def test_costs_of_another_processor_are_not_taken(measured, monkeypatch):
    again()
    monkeypatch.setattr(machine, "processor", lambda: "another one")
    again()
    assert len(measured) == 2


def test_a_cache_that_cannot_be_used_costs_a_measurement_only(measured, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    assert again() is GIVEN


def test_a_full_disk_costs_a_measurement_only(measured, monkeypatch):
    def full(self, text):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(machine.Path, "write_text", full)
    assert again() is GIVEN


def test_operations_of_one_latency_take_the_longest_of_them():
    latencies = GIVEN.latencies()
    assert latencies[LATENCY["fma"]] == max(GIVEN.add, GIVEN.mul, GIVEN.fma)
    assert latencies[LATENCY["div"]] == GIVEN.div
    assert latencies[0.0] == 0.0
