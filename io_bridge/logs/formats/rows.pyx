"""Rows of plain numbers out of the bytes of a text; see rows.pyi."""
from libc.math cimport NAN
from libc.stdint cimport int64_t, uint64_t
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
    # kinds of columns
    OF_NUMBERS = 0
    OF_WORDS = 1
    OF_HEXADECIMAL = 2           # numbers, some of them with 0x: their words are kept too
    MOST_HEXADECIMAL = 16        # digits
    LONGEST_WORD = 65_536

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


cdef const unsigned char *_hexadecimal(
    const unsigned char *p, const unsigned char *end, double *value
) noexcept nogil:
    # the end of the number whose 0x stands at p; p where there is none
    cdef const unsigned char *begin = p
    cdef uint64_t whole = 0
    cdef unsigned char sign
    if end - p < 3 or p[0] != 48 or (p[1] | 32) != 120:
        return begin
    p += 2
    while p < end:
        sign = p[0] | 32
        if _is_digit(p[0]):
            whole = 16 * whole + (p[0] - 48)
        elif 97 <= sign <= 102:
            whole = 16 * whole + (sign - 87)
        else:
            break
        p += 1
    if not 0 < p - begin - 2 <= MOST_HEXADECIMAL:
        return begin
    value[0] = <double>whole
    return p


cdef inline const unsigned char *_word(
    const unsigned char *p, const unsigned char *end, unsigned char parts, bint by_blanks
) noexcept nogil:
    # the end of the word that begins at p; NULL for one that is left to others
    cdef const unsigned char *begin = p
    while p < end and p[0] != 10 and p[0] != parts and not (by_blanks and p[0] == 9):
        # quotes, and where words are parted by blanks, marks that may be some
        if p[0] == 34 or p[0] == 0 or (by_blanks and (p[0] < 32 or p[0] > 126)):
            return NULL
        p += 1
    if p - begin > LONGEST_WORD or (by_blanks and p == begin):
        return NULL
    return p


cdef inline bint _is_nan(const unsigned char *p, const unsigned char *end) noexcept nogil:
    return end - p >= 3 and (p[0] | 32) == 110 and (p[1] | 32) == 97 and (p[2] | 32) == 110


cdef inline const unsigned char *_over_blanks(
    const unsigned char *p, const unsigned char *end, bint tabs
) noexcept nogil:
    while p < end and (p[0] == 32 or (tabs and p[0] == 9)):
        p += 1
    return p


def read_rows(const unsigned char[::1] text, Py_ssize_t at, double[:, ::1] out, Py_ssize_t first, Py_ssize_t most,
              str delimiter, str decimal, const unsigned char[::1] kinds=None, int64_t[:, :, ::1] words=None):
    cdef const unsigned char *begin
    cdef const unsigned char *end
    cdef const unsigned char *p
    cdef const unsigned char *after
    cdef unsigned char parts = <unsigned char>ord(delimiter)
    cdef bint has_comma = decimal == ",", by_blanks = delimiter == " ", tabs = delimiter != "\t", is_quoted
    cdef int kind, k, n_columns = <int>out.shape[0], column, kept, n_numbers
    cdef bint has_words = kinds is not None
    cdef Py_ssize_t done = 0
    cdef double value
    if not 0 <= at <= text.shape[0] or first < 0 or first + most > out.shape[1]:
        raise ValueError("read_rows: outside of the text or of the rows")
    if has_words:
        kept = sum(1 for kind in kinds if kind != OF_NUMBERS)
        if kinds.shape[0] != n_columns or words is None or words.shape[0] != kept or words.shape[2] != 2 \
                or first + most > words.shape[1]:
            raise ValueError("read_rows: no room for the words of each column that has some")
    if at == text.shape[0]:
        return 0, at
    begin = &text[0]
    end = begin + text.shape[0]
    p = begin + at
    while done < most and p < end:
        kept, n_numbers = 0, 0
        for k in range(n_columns):
            p = _over_blanks(p, end, tabs)
            column = kinds[k] if has_words else OF_NUMBERS
            is_quoted = p < end and p[0] == 34
            value, kind = NAN, NUMBER
            if column != OF_NUMBERS:
                after = _word(p, end, parts, by_blanks)
                if after is NULL:
                    return done, at
                words[kept, first + done, 0], words[kept, first + done, 1] = p - begin, after - begin
                kept += 1
            if column == OF_HEXADECIMAL and _hexadecimal(p, end, &value) != p:
                after = _hexadecimal(p, end, &value)
                n_numbers += 1
            elif column != OF_WORDS:
                p += is_quoted
                after = _number(p, end, has_comma, &value, &kind)
                n_numbers += kind != NO_NUMBER
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
        if has_words and not n_numbers:
            return done, at  # it may be a line of names
        done += 1
        at = p - begin
    return done, at


cdef inline bint _is_blank_line(const unsigned char *p, const unsigned char *end) noexcept nogil:
    while p < end:
        if not (p[0] == 32 or 9 <= p[0] <= 13):
            return False
        p += 1
    return True
