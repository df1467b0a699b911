"""One file per target language: `text(program)` prints a `codegen.program.Program`."""
