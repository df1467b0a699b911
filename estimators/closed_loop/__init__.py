"""State observers of closed-loop mechanisms by published name: errorEKF, DEKF, UKF, CEKF, DIEKFpm, projectionEKF.

Start with `observer.pyx` for configuration and wiring, `cycle.pyx` for one cycle; each filter is one file of `kinds/`.
"""
