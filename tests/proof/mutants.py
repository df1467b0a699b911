"""A change of each function, and the property that it makes fail."""

from __future__ import annotations

from typing import NamedTuple

from spin_models import function_of

AGES, BUCKET, FINDINGS, STATES, TORQUE, CYCLE = (
    f"rt_core/safety/{name}.h"
    for name in ("ages", "bucket", "findings", "states", "torque", "cycle")
)
CIA402, ENABLE, FAULT = (
    "io_bridge/slaves/cia402.h", "io_bridge/slaves/enable_rule.h", "io_bridge/slaves/bus_fault.h",
)  # fmt: skip
SHARED, TABLE, EXCHANGE = (
    "rt_core/shared.pxd",
    "rt_core/signals/table.pyx",
    "io_bridge/exchange/cycle.pyx",
)


class Mutant(NamedTuple):
    """One change of a function: `old`, which stands there once, becomes `new`; a property that has to fall."""

    source: str
    function: str
    old: str
    new: str
    falls: str


MUTANTS = (
    Mutant(AGES, "guard_older", "return age_ns + passed_ns <", "return age_ns - passed_ns <", "guard: keeps time"),
    Mutant(AGES, "guard_older", "? age_ns + passed_ns :", "? age_ns :", "guard: time"),
    Mutant(AGES, "guard_passed_ns", "if (!(elapsed <= longest))", "if (elapsed > longest)", "guard: elapsed"),
    Mutant(AGES, "guard_passed_ns", "clock_ns > period_ns ? clock_ns : period_ns", "period_ns", "guard: time"),
    Mutant(AGES, "guard_passed_ns", "if (elapsed > 1)", "if (elapsed > 3)", "guard: elapsed"),
    Mutant(AGES, "guard_bad_for_ns", "if (good) return 0;", "if (good) return before_ns;", "guard: time"),
    Mutant(AGES, "guard_bad_for_ns", "guard_older(before_ns, passed_ns)", "before_ns", "guard: time"),
    Mutant(BUCKET, "bucket_after", "level + pour < top ? level + pour : top", "level + pour", "bucket: level"),
    Mutant(BUCKET, "bucket_after", "level > drain ? level - drain : 0", "0", "bucket: level"),
    Mutant(BUCKET, "bucket_after", "level > drain ?", "level > 0 ?", "bucket: level"),
    Mutant(FINDINGS, "guard_finding", "found.reaction = reaction;", "found.reaction = GUARD_NONE;", "guard: ages"),
    Mutant(FINDINGS, "guard_too_long", "code, GUARD_RAMP", "code, GUARD_NONE", "guard: ages"),
    Mutant(FINDINGS, "guard_own_finding", "!(seen->own_fault == 0)", "seen->own_fault > 0", "guard: inputs"),
    Mutant(FINDINGS, "guard_own_finding", "!(seen->actuator_ready > 0.5)", "!seen->actuator_ready", "guard: inputs"),
    Mutant(FINDINGS, "guard_own_finding", "m->skip_bucket_ns >= lim", "m->skip_bucket_ns > lim", "guard: buckets"),
    Mutant(FINDINGS, "guard_own_finding", "m->request_age_ns > lim", "m->request_bad_ns > lim", "guard: ages"),
    Mutant(FINDINGS, "guard_takes_along", "|| trip == GUARD_OTHER_TRIPPED", "", "reach: takes along"),
    Mutant(FINDINGS, "guard_takes_along", "state == GUARD_STOPPING || ", "", "reach: takes along"),
    Mutant(FINDINGS, "guard_reached", "|| state == GUARD_FAULT", "", "reach: reached"),
    Mutant(FINDINGS, "guard_reached", "|| state == GUARD_FAULT", "", "reach: calms"),
    Mutant(FINDINGS, "guard_reached", "|| state == GUARD_FAULT", "", "reach: released, 2 guards"),
    Mutant(FINDINGS, "guard_reached", "|| state == GUARD_FAULT", "", "reach: released, 3 guards"),
    *(Mutant(FINDINGS, "guard_reached", "!= GUARD_NONE ||", "== GUARD_NONE &&", f"reach: {reach}")
      for reach in ("axis, 2 guards", "axis, 3 guards", "group, 3 guards")),
    *(Mutant(FINDINGS, "guard_reached", "GUARD_RAMP, other", "GUARD_NONE, other", f"reach: all, {n} guards")
      for n in (2, 3)),
    *(Mutant(FINDINGS, "guard_takes_along", "|| trip == GUARD_OTHER_TRIPPED", "", f"reach: {reach}, 3 guards")
      for reach in ("all", "group")),
    Mutant(STATES, "guard_is_active", " || state == GUARD_STOPPING", "", "guard: ramp-out"),
    Mutant(STATES, "guard_is_at_rest", " || state == GUARD_FAULT", "", "guard: rest"),
    Mutant(STATES, "guard_next_state", "stop || !arm", "stop", "guard: ramp-out"),
    Mutant(STATES, "guard_next_state", "arm && arm_was_low", "arm", "guard: arming"),
    Mutant(STATES, "guard_next_state", "reaction == GUARD_SAFE", "reaction == GUARD_RAMP", "guard: trips"),
    Mutant(STATES, "guard_ended", " || output_nm != 0", "", "guard: slope"),
    Mutant(STATES, "guard_ended", " || output_nm != 0", "", "guard: entries"),
    Mutant(STATES, "guard_next_state", "reaction == GUARD_SAFE", "reaction != GUARD_NONE", "guard: slope"),
    Mutant(STATES, "guard_ended", "return tripped ? GUARD_FAULT : GUARD_INIT", "return GUARD_INIT", "guard: ramp-out"),
    Mutant(TORQUE, "guard_clamped", "value < -limit ? -limit :", "", "guard: limit"),
    Mutant(TORQUE, "guard_gain", "gain + gain_in < 1 ? gain + gain_in : 1", "gain + gain_in", "torque: gain"),
    Mutant(TORQUE, "guard_gain", "gain_out * periods > 0 ?", "gain_out > 0 ?", "torque: gain"),
    Mutant(TORQUE, "guard_held", "guard_clamped(target_nm, fabs(output_nm))", "target_nm", "guard: hold"),
    Mutant(TORQUE, "guard_toward", "fabs(change_nm) <= step_nm", "change_nm <= step_nm", "torque: toward"),
    Mutant(TORQUE, "guard_toward", "? output_nm + step_nm", "? target_nm", "torque: toward"),
    Mutant(TORQUE, "guard_sent", "guard_is_at_rest(state) || ", "", "guard: rest"),
    Mutant(CYCLE, "guard_watch", "isfinite(seen->angle_rad) && ", "", "guard: time"),
    Mutant(CYCLE, "guard_watch", "m->t_ns = t_ns;", "", "guard: time"),
    Mutant(CYCLE, "guard_watch", "lim->skip_bucket_ns + 2", "lim->skip_bucket_ns + 3", "guard: buckets"),
    Mutant(CYCLE, "guard_take_request", "m->tripped || blind", "m->tripped", "guard: hold"),
    Mutant(CYCLE, "guard_cycle", "m->arm_was_low = !arm;", "m->arm_was_low = 1;", "guard: arming"),
    Mutant(CYCLE, "guard_cycle", "== GUARD_RAMP) m->tripped = 1;", "== GUARD_SAFE) m->tripped = 1;", "guard: trips"),
    Mutant(CYCLE, "guard_cycle", "!(seen->stop < 0.5) || ", "seen->stop > 0.5 || ", "guard: ramp-out"),
    Mutant(CYCLE, "guard_cycle", "m->output_nm = guard_sent(m->state, m->output_nm);", "", "guard: rest"),
    Mutant(CIA402, "cia402_decode", "[i][1]) return i", "[i][1]) return i + 1", "drive: state"),
    Mutant(CIA402, "cia402_control", "state == CIA402_FAULT && reset", "reset", "drive: enabling"),
    Mutant(ENABLE, "bus_allows", "!kept && ", "", "drive: torque"),
    Mutant(ENABLE, "bus_allows", "&& !clock_was_locked", "&& clock_was_locked", "drive: torque"),
    Mutant(ENABLE, "bus_is_live", " && !fault", "", "drive: torque"),
    Mutant(ENABLE, "drive_is_allowed", " && !drive_held", "", "drive: torque"),
    Mutant(ENABLE, "drive_is_in_mode", "shown == asked", "shown", "drive: torque"),
    Mutant(ENABLE, "drive_is_in_mode", "shown == asked", "shown", "drive: enabling"),
    Mutant(ENABLE, "drive_is_enabled", "&& in_mode ", "", "drive: torque"),
    Mutant(ENABLE, "drive_is_held", "!in_mode || ", "", "drive: held"),
    Mutant(ENABLE, "drive_is_held", ">= CIA402_FAULT_REACTION_ACTIVE", "== CIA402_FAULT", "drive: held"),
    Mutant(ENABLE, "drive_is_enabled", "enable > 0.5", "enable >= 0.5", "drive: torque"),
    Mutant(ENABLE, "drive_wish", "enabled ? CIA402_ON", "!enabled ? CIA402_ON", "drive: enabling"),
    Mutant(ENABLE, "drive_may_move", "state == CIA402_OPERATION_ENABLED && ", "", "drive: torque"),
    Mutant(ENABLE, "drive_may_move", " && isfinite(command)", "", "drive: torque"),
    Mutant(ENABLE, "drive_clamped", "value < -limit ? -limit : value", "value", "drive: peak"),
    Mutant(ENABLE, "drive_rounded", "value + 0.5", "value + 1.5", "drive: peak"),
    Mutant(ENABLE, "drive_permille", "drive_clamped(command_nm * permille_per_nm, peak_permille)",
           "command_nm * permille_per_nm", "drive: peak"),
    Mutant(ENABLE, "drive_permille", "drive_clamped(command_nm * permille_per_nm, peak_permille)",
           "command_nm * permille_per_nm", "drive: defined"),
    Mutant(CIA402, "cia402_control", "[state][wish]", "[state + 1][wish]", "drive: defined"),
    Mutant(ENABLE, "drive_torque_word", "drive_rounded(permille)", "permille * 2", "drive: peak"),
    Mutant(FAULT, "bus_level_after", "good ? 0 : leak", "good || level > leak ? 0 : leak", "bus: burst"),
    Mutant(FAULT, "bus_level_after", ", 1, brim)", ", leak, brim)", "bus: burst"),
    Mutant(FAULT, "bus_is_lost", "level >= brim", "level > brim", "bus: burst"),
    Mutant(FAULT, "bus_is_lost", "level >= brim", "level > brim", "bus: bucket"),
    Mutant(FAULT, "bus_fault", "if (lost) return cause;", "", "bus: bucket"),
    Mutant(FAULT, "bus_fault", "before != BUS_COMMAND_BAD) return before", "before != BUS_COMMAND_BAD) return 0",
           "bus: bucket"),
    Mutant(SHARED, "publish_latest", "    fence_release()\n", "", "shared: latest"),
    Mutant(SHARED, "publish_latest", "store_release(latest, s)", "store_relaxed(latest, s)", "shared: latest"),
    Mutant(SHARED, "read_latest", "s = load_acquire(latest)", "s = load_relaxed(latest)", "shared: latest"),
    Mutant(SHARED, "read_latest", "        fence_acquire()\n", "", "shared: latest"),
    Mutant(SHARED, "read_latest", "if load_relaxed(latest) == s:", "if True:", "shared: latest"),
    Mutant(SHARED, "push_ring", "store_release(ring + WRITTEN", "store_relaxed(ring + WRITTEN", "shared: ring"),
    Mutant(SHARED, "push_ring", ">= <uint64_t>slots", "> <uint64_t>slots", "shared: ring"),
    Mutant(TABLE, "peek", "load_acquire(ring + WRITTEN) - consumed", "load_relaxed(ring + WRITTEN) - consumed",
           "shared: ring"),
    Mutant(TABLE, "advance", "store_release(ring + CONSUMED", "store_relaxed(ring + CONSUMED", "shared: ring"),
    Mutant(EXCHANGE, "exchange_step", "    if holder:\n", "    if x.ready == 2:\n", "watchdog: hand-over"),
    Mutant(EXCHANGE, "release", "__atomic_store_n(owner, 0, __ATOMIC_RELEASE)", "*owner = 0", "watchdog: hand-over"),
    Mutant(EXCHANGE, "holder_or_take", "__ATOMIC_ACQ_REL", "__ATOMIC_RELEASE", "watchdog: hand-over"),
    Mutant(EXCHANGE, "exchange_safe", "not owns(&x.owner, WATCHDOG) and not take(&x.owner, WATCHDOG)", "0",
           "watchdog: hand-over"),
    Mutant(EXCHANGE, "exchange_safe", "    return frames_send(", "    release(&x.owner)\n    return frames_send(",
           "watchdog: hand-over"),
)  # fmt: skip


def applied(mutant: Mutant, text: str) -> str:
    """Return a source with the change in its function.

    Raises
    ------
    ValueError
        The function has no such text, or has it more than once.
    """
    begin = text.index(function := function_of(text, mutant.function))
    if not function or function.count(mutant.old) != 1:
        raise ValueError(
            f"{mutant.source}: {mutant.function} has {mutant.old!r} {function.count(mutant.old)} times, not once"
        )
    return text[:begin] + function.replace(mutant.old, mutant.new) + text[begin + len(function) :]
