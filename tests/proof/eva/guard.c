/* Ranges of a guard's cycle by Frama-C's Eva: any input, NaN and infinity among them, and the limits of a usual rig. */
#include "__fc_builtin.h"
#include "rt_core/safety/cycle.h"

static double anything(void)
{
    volatile double any = 0;
    union { unsigned long bits; double number; } made;
    made.bits = Frama_C_unsigned_long_interval(0, (unsigned long)-1);
    any = made.number;
    return any;
}

int main(void)
{
    const int64_t longest = GUARD_LONGEST_NS;
    const struct GuardLimits lim = {PERIOD_NS, 10, 1, 0.5, 8, 40, 0.001, 0.01, 3000000, 600000, 1000000, 5000000,
                                    2000000, 2000000, 4000000};
    struct GuardMemory m = {0};
    struct GuardSeen seen;
    const int64_t t_ns = Frama_C_long_interval(0, 1L << 62);
    m.state = Frama_C_interval(0, 5);
    m.output_nm = Frama_C_double_interval(-10, 10);
    m.good_nm = Frama_C_double_interval(-10, 10);
    m.gain = Frama_C_double_interval(0, 1);
    m.tripped = Frama_C_interval(0, 1);
    m.arm_was_low = Frama_C_interval(0, 1);
    m.stepped = Frama_C_interval(0, 1);
    m.t_ns = Frama_C_long_interval(0, 1L << 62);
    m.request_age_ns = Frama_C_long_interval(0, longest);
    m.request_bad_ns = Frama_C_long_interval(0, longest);
    m.sensor_bad_ns = Frama_C_long_interval(0, longest);
    m.sensor_bucket_ns = Frama_C_long_interval(0, lim.sensor_bucket_ns + 2 * PERIOD_NS);
    m.skip_bucket_ns = Frama_C_long_interval(0, lim.skip_bucket_ns + 2 * PERIOD_NS);
    m.heartbeat_ns = Frama_C_long_interval(-longest - 1, 1L << 62);
    seen.torque_request_nm = anything();
    seen.request_cycle = anything();
    seen.request_fault = anything();
    seen.own_fault = anything();
    seen.elapsed = anything();
    seen.sensor_valid = anything();
    seen.angle_rad = anything();
    seen.rate_rad_s = anything();
    seen.actuator_ready = anything();
    seen.heartbeat = anything();
    seen.arm = anything();
    seen.stop = anything();
    seen.own_stop = anything();
    seen.other = Frama_C_interval(0, 32);
    guard_cycle(&m, &lim, &seen, t_ns);
    /*@ assert state: 0 <= m.state <= 5; */
    /*@ assert gain: 0 <= m.gain <= 1; */
    /*@ assert torque: \is_finite(m.output_nm); */
    /*@ assert bucket: 0 <= m.sensor_bucket_ns <= lim.sensor_bucket_ns + 2 * PERIOD_NS; */
    /*@ assert bucket: 0 <= m.skip_bucket_ns <= lim.skip_bucket_ns + 2 * PERIOD_NS; */
    /*@ assert age: 0 <= m.request_age_ns <= longest; */
    return 0;
}
