"""Rows of plain numbers out of the bytes of a text; see rows.pyi."""
from libc.math cimport NAN
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

cdef extern from "Python.h":
    double PyOS_string_to_double(const char *text, char **end, void *overflow) except? -1.0

cdef enum:
    NO_NUMBER = 0
    NUMBER = 1
    LONG_NUMBER = 2              # more digits than a product or a quotient rounds right
    MOST_SIGNS = 60              # of such a number
    MOST_DIGITS = 18
    LARGEST_TEN = 22             # the largest power of ten that is exact

cdef uint64_t EXACT = 1ULL << 53
cdef double[23] TENS
for _power in range(LARGEST_TEN + 1):
    TENS[_power] = float(f"1e{_power}")


cdef inline bint _is_digit(unsigned char sign) noexcept nogil:
    return 48 <= sign <= 57


cdef const unsigned char *_number(
    const unsigned char *p, const unsigned char *end, bint has_comma, double *value, int *kind
) noexcept nogil:
    # the end of the number that begins at p; Clinger's fast path: whole digits below 2^53 and an exact power of ten
    cdef uint64_t whole = 0
    cdef int digits = 0, seen = 0, power = 0, written = 0
    cdef bint negative = False, below = False, negative_power = False
    kind[0] = NO_NUMBER
    if p < end and (p[0] == 43 or p[0] == 45):
        negative = p[0] == 45
        p += 1
    while p < end:
        if _is_digit(p[0]):
            seen += 1
            if whole or p[0] != 48:
                digits += 1
            if digits <= MOST_DIGITS:
                whole = 10 * whole + (p[0] - 48)
            power -= below
        elif not below and (p[0] == 46 or (has_comma and p[0] == 44)):
            below = True
        else:
            break
        p += 1
    if not seen:
        return p
    if p < end and (p[0] == 69 or p[0] == 101):
        p += 1
        if p < end and (p[0] == 43 or p[0] == 45):
            negative_power = p[0] == 45
            p += 1
        if p >= end or not _is_digit(p[0]):
            return p
        while p < end and _is_digit(p[0]):
            if written < 10_000:
                written = 10 * written + (p[0] - 48)
            p += 1
        power += -written if negative_power else written
    if digits > MOST_DIGITS or whole > EXACT or not -LARGEST_TEN <= power <= LARGEST_TEN:
        kind[0] = LONG_NUMBER
        return p
    kind[0] = NUMBER
    value[0] = <double>whole / TENS[-power] if power < 0 else <double>whole * TENS[power]
    if negative:
        value[0] = -value[0]
    return p


cdef bint _long_number(const unsigned char *p, const unsigned char *end, double *value) except -1:
    cdef char[MOST_SIGNS + 1] text
    cdef Py_ssize_t n = end - p, i
    if n > MOST_SIGNS:
        return False
    memcpy(text, p, n)
    text[n] = 0
    for i in range(n):
        if text[i] == 44:
            text[i] = 46
    value[0] = PyOS_string_to_double(text, NULL, NULL)
    return True


cdef inline bint _is_nan(const unsigned char *p, const unsigned char *end) noexcept nogil:
    return end - p >= 3 and (p[0] | 32) == 110 and (p[1] | 32) == 97 and (p[2] | 32) == 110


cdef inline const unsigned char *_over_blanks(
    const unsigned char *p, const unsigned char *end, bint tabs
) noexcept nogil:
    while p < end and (p[0] == 32 or (tabs and p[0] == 9)):
        p += 1
    return p


def read_rows(const unsigned char[::1] text, Py_ssize_t at, double[:, ::1] out, Py_ssize_t first, Py_ssize_t most,
              str delimiter, str decimal):
    cdef const unsigned char *begin
    cdef const unsigned char *end
    cdef const unsigned char *p
    cdef const unsigned char *after
    cdef unsigned char parts = <unsigned char>ord(delimiter)
    cdef bint has_comma = decimal == ",", by_blanks = delimiter == " ", tabs = delimiter != "\t", is_quoted
    cdef int kind, k, n_columns = <int>out.shape[0]
    cdef Py_ssize_t done = 0
    cdef double value
    if not 0 <= at <= text.shape[0] or first < 0 or first + most > out.shape[1]:
        raise ValueError("read_rows: outside of the text or of the rows")
    if at == text.shape[0]:
        return 0, at
    begin = &text[0]
    end = begin + text.shape[0]
    p = begin + at
    while done < most and p < end:
        for k in range(n_columns):
            p = _over_blanks(p, end, tabs)
            is_quoted = p < end and p[0] == 34
            p += is_quoted
            after = _number(p, end, has_comma, &value, &kind)
            if kind == LONG_NUMBER:
                if not _long_number(p, after, &value):
                    return done, at
            elif kind == NO_NUMBER:
                if _is_nan(p, end):
                    after, value = p + 3, NAN
                elif after == p and not by_blanks and p < end and (p[0] == parts or p[0] == 10) and not is_quoted:
                    value = NAN  # an empty cell
                else:
                    return done, at
            p = after
            if is_quoted:
                if p >= end or p[0] != 34:
                    return done, at
                p += 1
            out[k, first + done] = value
            after = p
            p = _over_blanks(p, end, tabs)
            if p >= end:
                return done, at  # a line without an end may be cut
            if k < n_columns - 1:
                if by_blanks:
                    if p == after:
                        return done, at
                elif p[0] == parts:
                    p += 1
                else:
                    return done, at
        if not by_blanks and p[0] == parts:
            p = _over_blanks(p + 1, end, tabs)  # a delimiter at the end makes no cell
        if p >= end or p[0] != 10:
            return done, at
        p += 1
        if n_columns == 1 and _is_blank_line(begin + at, p):
            return done, at
        done += 1
        at = p - begin
    return done, at


cdef inline bint _is_blank_line(const unsigned char *p, const unsigned char *end) noexcept nogil:
    while p < end:
        if not (p[0] == 32 or 9 <= p[0] <= 13):
            return False
        p += 1
    return True
