/* The master's side of the CiA 402 state machine, as two tables.

   Source: CiA 402-2 (IEC 61800-7-201), state coding of the statusword and device control commands. */
#ifndef IO_BRIDGE_SLAVES_CIA402_H
#define IO_BRIDGE_SLAVES_CIA402_H

#include <stdint.h>

enum Cia402State {
    CIA402_NOT_READY = 0,
    CIA402_SWITCH_ON_DISABLED = 1,
    CIA402_READY_TO_SWITCH_ON = 2,
    CIA402_SWITCHED_ON = 3,
    CIA402_OPERATION_ENABLED = 4,
    CIA402_QUICK_STOP_ACTIVE = 5,
    CIA402_FAULT_REACTION_ACTIVE = 6,
    CIA402_FAULT = 7,
    CIA402_UNKNOWN = 8
};

enum Cia402Wish {
    CIA402_OFF = 0,
    CIA402_ON = 1,
    CIA402_STOP = 2
};

enum {
    CIA402_STATES = 8,           /* that a statusword can show */
    CIA402_FAULT_RESET = 0x0080
};

/* statusword & mask == value, in the order of Cia402State */
static const uint16_t CIA402_CODING[8][2] = {
    {0x004F, 0x0000},
    {0x004F, 0x0040},
    {0x006F, 0x0021},
    {0x006F, 0x0023},
    {0x006F, 0x0027},
    {0x006F, 0x0007},
    {0x004F, 0x000F},
    {0x004F, 0x0008},
};

/* controlword by state, one column per Cia402Wish */
static const uint16_t CIA402_COMMAND[9][3] = {
    /* off     on      stop */
    {0x0000, 0x0000, 0x0000},    /* not ready: passes by itself */
    {0x0006, 0x0006, 0x0006},    /* switch on disabled: shutdown leads to ready */
    {0x0006, 0x0007, 0x0006},    /* ready: switch on */
    {0x0006, 0x000F, 0x0006},    /* switched on: enable operation */
    {0x0006, 0x000F, 0x0002},    /* operation enabled: off lets go, stop brakes */
    {0x0000, 0x0000, 0x0002},    /* quick stop: held as long as asked; else disable voltage, then from the start */
    {0x0000, 0x0000, 0x0000},    /* fault reaction: passes by itself */
    {0x0000, 0x0000, 0x0000},    /* fault: only a reset leads out */
    {0x0000, 0x0000, 0x0000},
};

static inline int cia402_decode(uint16_t statusword)
{
    for (int i = 0; i < CIA402_STATES; i++)
        if ((statusword & CIA402_CODING[i][0]) == CIA402_CODING[i][1]) return i;
    return CIA402_UNKNOWN;
}

/* The controlword that leads one step towards a wish; `reset` acts in the fault state alone. */
static inline uint16_t cia402_control(int state, int wish, int reset)
{
    if (state == CIA402_FAULT && reset) return CIA402_FAULT_RESET;
    return CIA402_COMMAND[state][wish];
}

#endif
