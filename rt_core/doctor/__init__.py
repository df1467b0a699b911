"""Checks of the host for causes of lateness: one plain function a check, one file a group.

A check takes the `Host` (where to look) and the `Demands` (of the rig) and returns a frozen
`Check`. Files are read under the host's root; facts that no file gives are tried with a real system
call, which is then undone. Nothing is changed on the host.

Start with `check.py`.
"""
