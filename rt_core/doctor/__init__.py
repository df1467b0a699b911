"""What keeps this host from being on time: one plain function a check, one file a group.

A check takes the `Host` (where to look) and the `Demands` (what the rig asks) and returns a frozen
`Check`. Files are read under the host's root; what no file can tell is tried with a real system
call, and given back. Nothing is changed on the host.
"""
