import pytest

from rt_core.doctor import processor
from rt_core.doctor.check import Demands, Level, TaskDemand

CPU = "/sys/devices/system/cpu"
VIRTUAL = {"/proc/cpuinfo": "processor : 0\nflags : fpu tsc hypervisor\n"}
RIG = Demands((TaskDemand("fast", 200, 90, 1, 40), TaskDemand("slow", 1000, 80, 2, 200)))


def governors(one, two):
    return {
        f"{CPU}/cpu1/cpufreq/scaling_governor": one,
        f"{CPU}/cpu2/cpufreq/scaling_governor": two,
    }


def test_the_governor_of_every_core_of_the_rig_counts(make_host):
    assert (
        processor.governor(make_host(governors("performance", "performance")), RIG).level
        is Level.GREEN
    )
    check = processor.governor(make_host(governors("performance", "powersave")), RIG)
    assert check.level is Level.AMBER
    assert check.found == "core 2: powersave"


@pytest.mark.parametrize("check", [processor.governor, processor.turbo])
def test_a_clock_that_cannot_be_read_is_amber_with_the_reason(make_host, check):
    assert check(make_host(VIRTUAL), RIG).found == "unknown: the hypervisor decides"
    found = check(make_host({"/proc/cpuinfo": "flags : fpu tsc\n"}), RIG)
    assert found.level is Level.AMBER
    assert found.found.startswith("unknown: n")


@pytest.mark.parametrize(
    ("place", "off", "on"), [("intel_pstate/no_turbo", 1, 0), ("cpufreq/boost", 0, 1)]
)
def test_turbo_is_amber_and_switched_off_where_it_is_found(make_host, place, off, on):
    assert processor.turbo(make_host({f"{CPU}/{place}": f"{off}\n"}), RIG).level is Level.GREEN
    check = processor.turbo(make_host({f"{CPU}/{place}": f"{on}\n"}), RIG)
    assert check.level is Level.AMBER
    assert check.remedy == f"echo {off} | sudo tee {CPU}/{place}"


def test_a_core_that_was_throttled_by_heat_is_amber(make_host):
    files = {
        f"{CPU}/intel_pstate/no_turbo": "1",
        f"{CPU}/cpu2/thermal_throttle/core_throttle_count": "17\n",
    }
    check = processor.turbo(make_host(files), RIG)
    assert check.level is Level.AMBER
    assert "17 times" in check.found


def sleep_states(*latencies, disabled=()):
    return {
        f"{CPU}/cpu1/cpuidle/state{i}/{name}": text
        for i, latency in enumerate(latencies)
        for name, text in (("latency", f"{latency}\n"), ("disable", f"{int(i in disabled)}\n"))
    }


@pytest.mark.parametrize(
    ("states", "level"),
    [
        (sleep_states(0, 2), Level.AMBER),
        (sleep_states(0, 40), Level.AMBER),  # the spin of the fast task covers it
        (sleep_states(0, 2, 133), Level.RED),
        (sleep_states(0, 2, 133, disabled=(2,)), Level.AMBER),
    ],
)
def test_deep_sleep_that_cannot_be_held_off_is_judged_by_the_fastest_task(make_host, states, level):
    check = processor.idle(make_host(states), RIG)
    assert check.level is level
    assert "missing" in check.found
    assert "cpu_dma_latency" in check.remedy


def test_a_writable_latency_device_keeps_cores_awake(make_host):
    files = sleep_states(0, 2, 133) | {"/dev/cpu_dma_latency": ""}
    assert processor.idle(make_host(files), RIG).level is Level.GREEN


def test_siblings_in_use_are_amber(make_host):
    alone = {f"{CPU}/cpu{core}/topology/thread_siblings_list": f"{core}\n" for core in (1, 2)}
    assert processor.siblings(make_host(alone), RIG).level is Level.GREEN
    shared = alone | {f"{CPU}/cpu1/topology/thread_siblings_list": "1,5\n"}
    check = processor.siblings(make_host(shared), RIG)
    assert check.level is Level.AMBER
    assert check.remedy == f"echo 0 | sudo tee {CPU}/cpu5/online"
    # two tasks on one physical core: no core to switch off, so all siblings
    both = alone | {
        f"{CPU}/cpu1/topology/thread_siblings_list": "1-2\n",
        f"{CPU}/smt/control": "on\n",
    }
    assert (
        processor.siblings(make_host(both), RIG).remedy == f"echo off | sudo tee {CPU}/smt/control"
    )


def test_an_unknown_topology_is_amber(make_host):
    assert processor.siblings(make_host(), RIG).found.startswith("unknown")


@pytest.mark.parametrize(
    ("current", "level"),
    [
        ("tsc", Level.GREEN),
        ("arch_sys_counter", Level.GREEN),
        ("kvm-clock", Level.AMBER),
        ("hpet", Level.RED),
        ("acpi_pm", Level.RED),
        (None, Level.AMBER),
    ],
)
def test_the_clock_source_is_judged(make_host, current, level):
    folder = "/sys/devices/system/clocksource/clocksource0"
    files = {f"{folder}/available_clocksource": "tsc hpet acpi_pm \n"}
    if current:
        files[f"{folder}/current_clocksource"] = f"{current}\n"
    check = processor.clock_source(make_host(files), RIG)
    assert check.level is level
    if level is not Level.GREEN:
        assert check.remedy == f"echo tsc | sudo tee {folder}/current_clocksource"
