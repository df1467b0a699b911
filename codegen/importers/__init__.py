"""Robot files to mechanism files: one module per format, all through MuJoCo's own reader.

How to add a format
-------------------
1. Create `codegen/importers/<format>.py` with `ROOT`, the tag that its files start with;
   `read(mujoco, path)`, which makes a MuJoCo specification of a file; `leave_out_unknown(path, tree)`,
   which lists the features of the file that a mechanism does not have; and `mistakes(path)` where the reader would
   stop at the first of several.
2. A format that MuJoCo cannot express fills a `tree.Tree` instead, as `robot_file.read_file` does;
   `natural.write` does the rest.
3. Name it in `robot_file.FORMATS`, in `tests/unit/codegen/importers` and in `docs/models/importing.md`.
"""
