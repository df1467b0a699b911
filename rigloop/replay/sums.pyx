"""Sums and extremes of neighbouring columns of images, all in one pass; see sums.pyi."""

cdef extern from *:
    """
    static void add_row(
        const double *restrict value, long n, double *restrict sum, double *restrict squares,
        double *restrict least, double *restrict largest, double *restrict unordered)
    {
        for (long i = 0; i < n; i++) {
            const double v = value[i];
            sum[i] += v;
            squares[i] += v * v;
            least[i] = v < least[i] ? v : least[i];
            largest[i] = v > largest[i] ? v : largest[i];
            unordered[i] += v != v; // 0 or 1: a NaN is neither less nor more
        }
    }
    """
    void add_row(
        const double *value, long n, double *sum, double *squares, double *least, double *largest, double *unordered
    ) noexcept nogil


def add_rows(const double[:, ::1] images, Py_ssize_t first, double[:, ::1] figures):
    cdef Py_ssize_t i, n = figures.shape[1]
    if figures.shape[0] != 5 or first < 0 or first + n > images.shape[1]:
        raise ValueError("add_rows: outside of the images")
    if n:
        with nogil:
            for i in range(images.shape[0]):
                add_row(
                    &images[i, first], n, &figures[0, 0], &figures[1, 0], &figures[2, 0], &figures[3, 0],
                    &figures[4, 0])
