/* Kernels of sets, written as lists in a cell of a column of texts: what `intersection` and `tanimoto` are there.
 *
 *   intersection()  the size of the intersection: inner product of indicators
 *   tanimoto()      the size of the intersection over that of the union (Jaccard); 1 for two empty sets
 *
 * Items stand between commas, semicolons or bars; in a cell without any of them between spaces. Spaces and quotes around an item, and a pair of brackets around the list,
 * are left out: "[red, dark blue]" has two items, "{}" none. An item that is there twice counts once. */
#include <math.h>

#include "kernel/text/text_features.h"

static void features(const double *par, const gram_symbols *set, gram_feature_sink *sink)
{
    (void)par;
    for (int64_t i = 0; i < set->count; i++) {
        int seen = 0;
        for (int64_t j = 0; j < i && !seen; j++) seen = set->code[j] == set->code[i];
        if (!seen) gram_feature_add(sink, gram_feature_mix(1, set->code[i] + 1), 1);
    }
}

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    (void)shape, (void)work;
    v->affine(n, 1, 0, s, out);
}

static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)par, (void)d;
    facts->positive_definite = GRAM_YES;
    facts->derivatives = 0;
    facts->sobolev_order = NAN;
}

const gram_kernel_type gram_kernel_set_intersection = {
    .name = "intersection",
    .formula = "size of the intersection of two sets",
    .form = GRAM_FORM_DOT,
    .things = 1u << GRAM_OBJECT_TEXT,
    .sets = 1,
    .features = features,
    .facts = facts,
    .profile = profile,
};

const gram_kernel_type gram_kernel_set_tanimoto = {
    .name = "tanimoto",
    .formula = "size of the intersection of two sets over that of their union",
    .form = GRAM_FORM_SHARE,
    .things = 1u << GRAM_OBJECT_TEXT,
    .sets = 1,
    .features = features,
    .facts = facts,
    .profile = profile,
};

const gram_kernel_type gram_kernel_sparse_tanimoto = {
    .name = "tanimoto",
    .formula = "x.y/(|x|^2 + |y|^2 - x.y)",
    .form = GRAM_FORM_SHARE,
    .things = 1u << GRAM_OBJECT_SPARSE,
    .facts = facts,
    .profile = profile,
};
