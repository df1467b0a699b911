"""Program to standalone C99 for other hosts: one source and one header, every public name prefixed
with the mechanism's, and a small program that shows how to call it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from string import Template

from codegen.description.mechanism import ports
from codegen.equations.program import Program
from codegen.targets.kernel_text import HERE, KernelText, table
from codegen.targets.spelling import spelled
from rig_configs.names import RESERVED
from rig_configs.plain import c_string

# names that math.h, stdio.h, string.h, stdint.h and stddef.h declare, as far as a mechanism could be called that
_LISTED = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs "
    "fdim floor fma fmax fmin fmod frexp gamma hypot ilogb isfinite isinf isnan isnormal j0 j1 jn ldexp "
    "lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter "
    "nexttoward pow remainder remquo rint round scalb scalbln scalbn signbit signgam significand sin "
    "sinh sqrt tan tanh tgamma trunc y0 y1 yn drem finite clearerr ctermid dprintf fclose fdopen feof "
    "ferror fflush fgetc fgetpos fgets fileno fopen fprintf fputc fputs fread freopen fscanf fseek "
    "fseeko fsetpos ftell ftello fwrite getc getchar getline gets getw pclose perror popen printf putc "
    "putchar puts putw remove rename rewind scanf setbuf setvbuf snprintf sprintf sscanf tempnam "
    "tmpfile tmpnam ungetc vprintf memccpy memchr memcmp memcpy memmove memset stpcpy strcat strchr "
    "strcmp strcoll strcpy strcspn strdup strerror strlen strncat strncmp strncpy strpbrk strrchr "
    "strspn strstr strtok strxfrm size_t ptrdiff_t max_align_t offsetof va_list FILE fpos_t off_t "
    "ssize_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t "
    "intmax_t uintmax_t float_t double_t index rindex bcmp bcopy bzero ffs"
)
LIBRARY = frozenset(_LISTED.split())
UNBOUND = -1.7976931348623157e308


def texts(program: Program) -> dict[str, str]:
    """Sources by file name: `<name>.h`, `<name>.c`, `<name>_example.c`."""
    mechanism = program.mechanism
    system = mechanism.system
    face = (HERE / "c99.c.in").read_text()
    kernel = KernelText(program, has_block=False, calls=face)
    name = identifier(mechanism.name, _words(kernel, face))
    kernel.fill |= {
        "name": name,
        "NAME": name.upper(),
        "bytes": str(_bytes(program)),
        "guide_0": ", ".join(f"{g.coordinate.initial!r}, 0.0, 0.0" for g in system.guides) or "0.0",
    }
    includes = (
        f'#include "{name}.h"\n\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n'
    )
    source = "\n".join([
        kernel.filled("head.c.in", includes=includes),
        kernel.fill["types"],
        *built(program),
        kernel.filled("kernel.c.in"),
        *_names(program, name),
        kernel.filled("c99.c.in"),
    ])  # fmt: skip
    digest = hashlib.sha256(source.encode()).hexdigest()
    return {
        f"{name}.h": kernel.filled("c99.h.in", source_sha256=digest),
        f"{name}.c": source,
        f"{name}_example.c": kernel.filled("c99_example.c.in"),
    }


def trial(program: Program) -> dict[str, str]:
    """Sources of a kernel that is only tried out, with a loop around it: header, kernel, loop."""
    files = texts(program)
    name = next(key[: -len(".h")] for key in files if key.endswith(".h"))
    files.pop(f"{name}_example.c")
    loop = (HERE / "trial.c.in").read_text()
    files["trial.c"] = Template(loop).substitute(name=name, NAME=name.upper())
    return files


def identifier(name: str, taken: Collection[str] = ()) -> str:
    """A mechanism's name as the beginning of names in C; those of `taken` are not for it."""
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    is_free = word[:1].isalpha() and word not in (*taken, *RESERVED, *LIBRARY)
    return word if is_free else f"m_{word}"


def _words(kernel: KernelText, face: str) -> set[str]:
    """Names that the source has whatever the mechanism is called, at file scope or inside."""
    text = "\n".join([kernel.fill["types"], kernel.filled("kernel.c.in"), face])
    code = re.sub(r"//.*|/\*.*?\*/", "", text)
    return set(re.findall(r"[A-Za-z_]\w*", code))


def built(program: Program) -> list[str]:
    """Return the tables of initial values and bounds of a kernel."""
    system = program.presolved.system
    values = {
        "PARAMETERS_0": [p.default for p in system.parameters],
        "SIGNALS_0": [p.default for p in system.signals],
        "INTERNAL_0": [p.default for p in system.internals],
        "BUILT_Q": [c.initial for c in system.coordinates],
        "BUILT_QD": [c.initial_rate for c in system.coordinates],
    }
    bounds = {
        "PARAMETERS_LEAST": [UNBOUND if p.least is None else p.least for p in system.parameters],
        "PARAMETERS_ABOVE": [UNBOUND if p.above is None else p.above for p in system.parameters],
    }
    return [
        *(
            spelled(table("static const real", key, found or [0.0]), program.options.precision)
            for key, found in values.items()
        ),
        *(table("static const double", key, found or [0.0]) for key, found in bounds.items()),
    ]


def _names(program: Program, name: str) -> list[str]:
    mechanism = program.mechanism
    system = mechanism.system
    reads, _ = ports(mechanism)
    lists = {
        "guide": [guide.name for guide in system.guides],
        "signal": list(reads[3 * len(system.guides) :]),
        "output": [output.port for output in mechanism.outputs],
        "parameter": [p.path for p in system.parameters],
        "coordinate": [c.name for c in system.coordinates],
        "constraint": [row.label for row in system.rows],
    }
    texts = {f"{key}_names": values for key, values in lists.items()}
    texts["coordinate_units"] = [c.unit for c in system.coordinates]
    return [
        f"const char *const {name}_{key}[] = {{\n"
        + "".join(f"    {c_string(value)},\n" for value in values)
        + "    NULL\n};"
        for key, values in texts.items()
    ]


def _bytes(program: Program) -> int:
    """Room for a kernel, generous: the source checks that it fits."""
    system, options = program.presolved.system, program.options
    n_q, n_phi, n_internal = len(system.coordinates), len(system.rows), len(system.internals)
    extra = sum(max(1, size) for size, _ in program.state.values())
    state = 3 * n_q + n_phi + n_internal + extra + 4
    states = 4 + 2 * (options.substeps > 1)
    work = sum(max(1, size) for size in program.arrays.values()) + len(system.guides)
    cells = states * state + work + 4 * len(system.guides)
    return 8 * (cells + len(program.mechanism.outputs) + 32)
