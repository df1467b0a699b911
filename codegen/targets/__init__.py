"""One file per target language: `text(program)` prints a `codegen.equations.program.Program`."""
