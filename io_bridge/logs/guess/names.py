"""Words by which loggers name their columns, in some languages, and the units in them."""

from __future__ import annotations

import re
from collections.abc import Iterable

TIME = re.compile(
    r"(^|[^a-z])(t|ts|time|timestamp|timestamps|stamp|zeit|datum|date|datetime|temps|tiempo|tempo|vrijeme|clock|uhrzeit|ticks?|epoch|"
    r"realtime_counter|seconds?|sec|millis|micros|log_time|publish_time)([^a-z]|$)|時間|時刻|时间"
)
ANGLE = (
    (6, re.compile(
        r"steer\w*[ _-]*(wheel[ _-]*)?(angle|pos|enc)|lenk\w*winkel|steering|wheel[ _-]*(angle|enc)|handwheel|"
        r"angle[ _-]*(du[ _-]*)?volant|操舵角|舵角|ハンドル角|方向盘转角|转向角"
    )),
    (5, re.compile(
        r"encoder|codeur|drehgeber|エンコーダ|编码器|(^|[^a-z])enc([^a-z]|$)|counts?([^a-z]|$)|(^|[^a-z])cnt"
    )),
    (4, re.compile(
        r"angle|winkel|角度|回転角|转角|angolo|[aá]ngulo|(^|[^a-z])(kut|theta|phi|alpha)([^a-z]|$)|rotation"
    )),
    (3, re.compile(r"(^|[^a-z])(pos|position|rotary|resolver|rotor|shaft)([^a-z]|$)|posit")),
    (2, re.compile(r"(^|[^a-z])(deg|rad|wheel|volant|volante|lenkrad|raw|value|wert)([^a-z]|$)|°")),
)  # fmt: skip
NOT_ANGLE = re.compile(
    r"torque|trq|トルク|扭矩|转矩|moment|couple|speed|rate|veloc|(^|[^a-z])vel([^a-z]|$)|omega|rpm|current|strom|temp|volt|vbat|batt|spannung|電圧|acc|force|"
    r"kraft|status|flag|error|(^|[^a-z])(id|nm|crc|checksum|seq|index|sample|row|override)([^a-z]|$)|rear|command|"
    r"target|setpoint|rad_s|rad/s|degps|deg/s|mps|km/?h|brake|gas|throttle|yaw|pitch|roll|eps"
)  # fmt: skip
TORQUE = re.compile(
    r"torque|trq|drehmoment|lenkmoment|トルク|扭矩|转矩|(^|[^a-z])(moment|couple|coppia|par|nm)([^a-z]|$)"
)
NOT_TORQUE = re.compile(r"target|enable|limit|status|max|min|rate")
COUNTER = re.compile(r"tick|counter|cyc|clock")
NUMBERED = re.compile(r"^(index|idx|sample|samples|row|nr|no|n|#|zeile|frame|seq)$")
TIME_UNITS = {
    "s": ("s", "sec", "secs", "second", "seconds", "sek"),
    "ms": ("ms", "msec", "millis", "millisecond", "milliseconds"),
    "us": ("us", "µs", "μs", "usec", "micros", "microseconds"),
    "ns": ("ns", "nsec", "nanos", "nanoseconds"),
}
ANGLE_UNITS = {
    "deg": ("deg", "degree", "degrees", "grad", "°", "gradi", "grados"),
    "rad": ("rad", "radian", "radians"),
    "mrad": ("mrad",),
    "rev": ("rev", "revs", "turn", "turns", "revolutions", "umdr"),
    "counts": ("count", "counts", "cnt", "cnts", "inc", "incs", "increments", "lsb", "ticks", "pulses", "steps", "raw"),
}  # fmt: skip
COUNTS_OF_UNITS = {
    "mdeg": 360_000.0, "millideg": 360_000.0, "udeg": 360e6, "µdeg": 360e6, "cdeg": 36_000.0, "centideg": 36_000.0,
    "ddeg": 3600.0, "decideg": 3600.0, "arcmin": 21_600.0, "arcsec": 1_296_000.0, "mrev": 1000.0,
}  # fmt: skip
"""Small units that are printed as whole numbers, and how many of them a turn has."""
TORQUES_NM = {
    "nm": 1.0, "newtonmeter": 1.0, "mnm": 1e-3, "cnm": 1e-2, "ncm": 1e-2, "dnm": 0.1, "knm": 1e3, "nmm": 1e-3,
    "unm": 1e-6, "µnm": 1e-6, "lbfin": 0.1129848290, "lbin": 0.1129848290, "inlb": 0.1129848290, "inlbf": 0.1129848290,
    "lbfft": 1.3558179483, "lbft": 1.3558179483, "ftlb": 1.3558179483, "ftlbf": 1.3558179483, "ozfin": 7.0615518e-3,
    "ozin": 7.0615518e-3, "inoz": 7.0615518e-3, "kgfcm": 0.0980665, "kgcm": 0.0980665, "kgfm": 9.80665, "kgm": 9.80665,
}  # fmt: skip
"""Units of torque without what stands between their letters, in Nm."""
QUADRATURE = re.compile(r"\bx ?4\b|\b4 ?x\b|quadrature", re.IGNORECASE)
LINES = re.compile(r"ppr|pulses|lines|slits|striche?", re.IGNORECASE)
CPR = (
    re.compile(
        r"(?P<n>\d[\d_' ]*)\s*(?:counts?|cnts?|ticks|inc\w*|pulses|cpr|ppr|steps|lsb|positions)\s*"
        r"(?:/|per|pro|a|je)?\s*(?:rev\w*|turn|u|umdr\w*|360)?",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?:counts?[ _]*per[ _]*rev\w*|cpr|counts?/rev\w*|resolution|aufl\w*sung|encoder_counts)"
        r"\W{0,4}(?P<n>\d+)(?!\s*(?:s|ms|hz|bit))",
        re.IGNORECASE,
    ),
)  # fmt: skip
BITS = re.compile(r"(?P<n>\d{1,2})[ -]?bits?\b", re.IGNORECASE)
HERTZ = re.compile(
    r"(?P<n>\d+(?:[.,]\d+)?)\s*(?P<k>[kM]?)Hz\b|"
    r"(?:fs|sample[ _]*rate|abtastrate)\W{1,4}(?P<m>\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
PERIOD = re.compile(
    r"(?:period|interval|dt|abtastzeit|sampling time)\W{1,4}(?P<n>\d+(?:[.,]\d+)?(?:e-?\d+)?)\s*(?P<u>s|ms|us|µs)?\b",
    re.IGNORECASE,
)


def unit_in(name: str, stated: str, known: dict[str, tuple[str, ...]]) -> str:
    """Return the unit that a column's name or the file states; "" if neither does."""
    for text in (stated, *_parts(name)):
        plain = text.strip("[]()<>{} ").lower()
        for unit, words in known.items():
            if plain in words:
                return unit
    return ""


def torque_unit_in(name: str, stated: str) -> str:
    """Return the unit of torque that a column's name or the file states, as `TORQUES_NM` has it; "" if neither does."""
    bracketed = re.findall(r"[\[(<{]([^\])>}]*)[\])>}]", name)
    bare = re.sub(r"[\[(<{].*?[\])>}]", "", name)
    words = [word for word in re.split(r"[^A-Za-zµ]+", bare) if word]
    ends = ["".join(words[-2:]), *words[-1:]] if len(words) > 1 else []
    for text in (stated, *bracketed, *ends):
        plain = re.sub(r"[^a-zµ]", "", text.lower())
        if plain in TORQUES_NM:
            return plain
    return ""


def counts_in(texts: Iterable[str]) -> float:
    """Return the counts of a turn that a text states, four for each line of an encoder in quadrature; 0 without any."""
    for text in texts:
        if n := number_in(CPR, [text]):
            return 4.0 * n if LINES.search(text) and QUADRATURE.search(text) else n
    return 0.0


def _parts(name: str) -> list[str]:
    bracketed = re.findall(r"[\[(<{]([^\])>}]*)[\])>}]", name)
    words = re.split(r"[^A-Za-zµμ°]+", re.sub(r"(per|/)[ _]?(rev|turn)\w*", "", name))
    # the last word of a name is its unit, if any is
    return [*bracketed, *reversed([word for word in words[1:] if word])]


def number_in(patterns: Iterable[re.Pattern[str]], texts: Iterable[str]) -> float:
    """Return the first number that a pattern finds; 0 without one."""
    for text in texts:
        for pattern in patterns:
            for match in pattern.finditer(text):
                digits = re.sub(r"[_' ]", "", match["n"])
                if digits and float(digits) >= 8:
                    return float(digits)
    return 0.0
