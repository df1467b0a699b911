"""Moments that are written as words: dates in the orders of ISO, of Germany and of the US, times of day, zones."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

STAMP = re.compile(
    r"""(?:(?:(?P<y>\d{4})[-/.](?P<m>\d\d?)[-/.](?P<d>\d\d?)
        |(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>\d{4})
        |(?P<one>\d\d?)/(?P<two>\d\d?)/(?P<us_year>\d{4}))(?:T|,?\ +))?
    (?P<hour>\d{1,2}):(?P<minute>\d\d):(?P<second>\d\d(?:[.,]\d+)?)
    (?:\ ?(?P<half>[AaPp])\.?[Mm]\.?)?
    (?:\ ?(?:Z|UTC|GMT)|\ ?(?P<zone>[+-]\d\d):?(?P<zone_minute>\d\d)?)?\Z""",
    re.VERBOSE,
)


def seconds_of(word: str) -> float:
    """Return the seconds of a moment since 1970, of a time of day since midnight; NaN for another word.

    A zone is taken off. Of a date with bars the month is first, where it can be one.
    """
    match = STAMP.match(word)
    if not match:
        return float("nan")
    found = match.groupdict()
    days = 0
    date = (found["y"], found["m"], found["d"])
    if found["day"]:
        date = (found["year"], found["month"], found["day"])
    elif found["one"]:
        month, day = found["one"], found["two"]
        if int(month) > 12:
            month, day = day, month
        date = (found["us_year"], month, day)
    if date[0]:
        try:
            days = datetime.date(*(int(part) for part in date)).toordinal() - EPOCH
        except ValueError:
            return float("nan")
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + 12 * (found["half"] in "Pp")
    seconds = hour * 3600.0 + int(found["minute"]) * 60.0
    if found["zone"]:
        sign = -1.0 if found["zone"].startswith("-") else 1.0
        seconds -= int(found["zone"]) * 3600.0 + sign * int(found["zone_minute"] or 0) * 60.0
    return days * 86_400.0 + seconds + float(found["second"].replace(",", "."))


def seconds_of_all(words: Iterable[str]) -> NDArray[np.float64]:
    """Return `seconds_of` of each word: of those of one minute only the first one is taken apart."""
    begins: dict[str, float | None] = {}

    def begin_of(minute: str) -> float | None:
        # None: not a minute, or one with a zone behind it
        match = STAMP.match(f"{minute}:00")
        return seconds_of(f"{minute}:00") if match and match["zone"] is None else None

    found = []
    for word in words:
        minute, _, seconds = word.rpartition(":")
        if not PLAIN_SECONDS.match(seconds):
            found.append(seconds_of(word))
            continue
        if minute not in begins:
            if len(begins) > MOST_MINUTES:
                begins.clear()
            begins[minute] = begin_of(minute)
        begin = begins[minute]
        found.append(seconds_of(word) if begin is None else begin + float(seconds))
    return np.array(found, dtype=float)


EPOCH = datetime.date(1970, 1, 1).toordinal()
PLAIN_SECONDS = re.compile(r"[0-9]{2}(?:\.[0-9]+)?\Z")
MOST_MINUTES = 10_000  # that are known at once
