"""The haptic loop of a rig: encoder, filter, model, guard, drive, wheel; its margin and its impedance."""
