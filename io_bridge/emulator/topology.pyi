# Cycle code only: see the .pxd; Python sees nothing of it.
