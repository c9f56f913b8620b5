/* The spectrum of a Gram matrix: its eigenvalues, whether it is positive semi-definite, and a certificate if it is not.
 *
 * Everything is computed in f64, on all points or on a seeded sample of them: at most options.rows, and no more than those
 * whose matrix fits in half of the memory budget that is left. Common failures: those of <gram/matrix.h> and <gram/eigen.h>. */
#ifndef GRAM_SPECTRUM_H
#define GRAM_SPECTRUM_H

#include <gram/matrix.h>

GRAM_BEGIN

typedef struct gram_spectrum gram_spectrum;

typedef struct gram_spectrum_options {
    size_t size;   /* sizeof of this struct, set by gram_spectrum_options_init */
    int64_t rows;  /* at most; default 4,000 */
    double lambda; /* of the effective dimension, >= 0; 0: not wanted */
    int check;     /* look at the entries, too: the second part of the report. 0 */
} gram_spectrum_options;

GRAM_API void gram_spectrum_options_init(gram_spectrum_options *options, size_t size);

enum { GRAM_SPECTRUM_ENTRIES = 5 };

/* Rows are those of the points, counted from 0. Arrays belong to the spectrum. */
typedef struct gram_spectrum_report {
    size_t size;                /* of libgram's own struct */
    int64_t n;                  /* rows that were looked at */
    const int64_t *rows;        /* which, ascending */
    const double *values;       /* all n eigenvalues, descending */
    double tolerance;           /* n eps |largest|: what rounding makes of 0 */
    int psd;                    /* no eigenvalue is below -tolerance */
    double effective_dimension; /* tr K (K + n lambda I)^-1; NaN without lambda */

    /* with check */
    int symmetric;                            /* bit for bit */
    double form;                              /* v'Kv < 0 of a unit vector v, computed from K itself; NaN if psd */
    int64_t entry_count;                      /* the largest entries of v: */
    int64_t entry_row[GRAM_SPECTRUM_ENTRIES]; /* their rows */
    double entry[GRAM_SPECTRUM_ENTRIES];
    double ratio;          /* the largest |k(x,y)|/sqrt(k(x,x) k(y,y)), NaN if there is no pair */
    int64_t ratio_rows[2]; /* where, -1 if there is none */
    int cauchy_schwarz;    /* ratio <= 1 up to rounding */
    double metric[3];      /* least, median and largest distance d_k(x, y) over pairs of rows, NaN if there is none */
    int64_t metric_rows;   /* rows that the pairs are of: at most 512, evenly spaced */

    double trace;  /* the sum of the eigenvalues */
    double lambda; /* of the options; 0: none */
    int checked;   /* with check */
} gram_spectrum_report;

/* Of K(X, X). The kernel has no free numbers (gram_kernel_resolve). options may be NULL. O(n^3) time, O(n^2) memory until it
 * returns. The caller destroys it (takes NULL). */
GRAM_API gram_status gram_spectrum_create(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                          const gram_spectrum_options *options, gram_spectrum **spectrum);
GRAM_API void gram_spectrum_destroy(gram_spectrum *spectrum);
GRAM_API const gram_spectrum_report *gram_spectrum_get_report(const gram_spectrum *spectrum);

GRAM_END

#endif
