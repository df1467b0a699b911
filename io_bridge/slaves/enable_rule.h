/* What has to be good before a drive may be enabled, and before its command leaves. */
#ifndef IO_BRIDGE_SLAVES_ENABLE_RULE_H
#define IO_BRIDGE_SLAVES_ENABLE_RULE_H

#include <math.h>
#include <stdint.h>

#include "io_bridge/slaves/cia402.h"

/* `safe`: safe outputs are asked for; `kept`: a keeper sends, not the cycle. Before the cycle keeps the clock's phase no
   drive is enabled. */
static inline int bus_allows(int safe, int kept, int clock_on, int clock_was_locked)
{
    return !safe && !kept && !(clock_on && !clock_was_locked);
}

static inline int bus_is_live(int in_service, int fault)
{
    return in_service && !fault;
}

/* `held`: a fault has ended a command, and nobody has armed again. */
static inline int drive_is_allowed(int allowed, int bus_held, int drive_held)
{
    return allowed && !bus_held && !drive_held;
}

/* `shown`: 0x6061 by the last valid inputs. A drive that maps none keeps the mode of its bring-up. */
static inline int drive_is_in_mode(int is_shown, int shown, int asked)
{
    return !is_shown || shown == asked;
}

static inline int drive_is_enabled(int allowed, int in_mode, double enable)
{
    return allowed && in_mode && enable > 0.5;
}

static inline int drive_wish(int enabled, int stops)
{
    return enabled ? CIA402_ON : stops ? CIA402_STOP : CIA402_OFF;
}

static inline int drive_may_move(int enabled, int live, int state, double command)
{
    return enabled && live && state == CIA402_OPERATION_ENABLED && isfinite(command);
}

/* After a cycle: a drive whose mode or fault has ended a command does not act again by itself. A fault without a guard
   of its own is the bus's. */
static inline int drive_is_held(int held, int moved, int in_mode, int has_own_guard, int state)
{
    return held || (moved && (!in_mode || (has_own_guard && state >= CIA402_FAULT_REACTION_ACTIVE)));
}

static inline double drive_clamped(double value, double limit)
{
    return value > limit ? limit : value < -limit ? -limit : value;
}

static inline double drive_rounded(double value)
{
    return drive_clamped(floor(value + 0.5), 2147483647.0);
}

static inline double drive_permille(double command_nm, double permille_per_nm, double peak_permille)
{
    return drive_clamped(command_nm * permille_per_nm, peak_permille);
}

/* The word of 0x6071. */
static inline int16_t drive_torque_word(double permille)
{
    return (int16_t)drive_rounded(permille);
}

#endif
