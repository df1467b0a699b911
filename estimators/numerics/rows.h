// Rows of dense matrices, several cells at once: each cell gets its terms in the order in which the calls come, so that
// the sums are those of a loop over one cell after the other, bit for bit. `to` overlaps nothing else that is given.

static inline void add_row(double *restrict to, const double *restrict row, double x, int n)
{
    for (int i = 0; i < n; i++)
        to[i] += x * row[i];
}

// to += (row - gain p) h
static inline void add_left_over(
    double *restrict to, const double *restrict row, const double *restrict gain, double p, double h, int n)
{
    for (int i = 0; i < n; i++)
        to[i] += (row[i] - gain[i] * p) * h;
}

// row <- (row - g p) - a gain
static inline void keep_left_over(
    double *restrict row, const double *restrict p, const double *restrict gain, double g, double a, int n)
{
    for (int i = 0; i < n; i++)
        row[i] = (row[i] - g * p[i]) - a * gain[i];
}

static inline void divide_row(double *restrict to, double x, int n)
{
    for (int i = 0; i < n; i++)
        to[i] /= x;
}
