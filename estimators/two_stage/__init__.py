"""The two-stage observer: kinematics from sensors first, then forces from the motion.

Start with `observer.pyx`; `kinematic_observer.pyx` and `force_observer.pyx` are its stages.
"""
