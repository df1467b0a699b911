"""A rod on a pin, which turns at the start: the text of its file."""

PENDULUM = """
gravity_m_s2 = [0, -9.81, 0]
[point.P]
position_m = [0.3, 0, 0]
moves = "xy"
[angle.arm]
initial_rate_rad_s = 1.0
[rigid_body.arm]
points = [[0, 0, 0], "P"]
axis = [0, 0, 1]
angle = "arm"
mass_kg = 2.0
centre_m = [0.15, 0, 0]
inertia_kg_m2 = 0.015
[outputs]
"arm/angle_rad" = "arm"
"""
