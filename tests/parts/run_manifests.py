"""The manifest of a run that never was."""

from rigloop.run_folder.manifest import Manifest, Named


def run_manifest(**facts):
    """Return the manifest of a good live run of a second, with other facts."""
    usual = {
        "kind": "live",
        "rig": Named("rig", "0" * 64),
        "kernels": (),
        "started": "2026-01-02T03:04:05Z",
        "duration_s": 1.0,
        "verdict": "good",
        "reasons": (),
        "tasks": {},
        "versions": {},
        "host": {},
    }
    return Manifest(**usual | facts)
