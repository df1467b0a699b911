"""Serial chains in generalised inertial parameters: inverse dynamics as text."""
