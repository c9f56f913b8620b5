/* normalize and centre of functionals.
 *
 * Both combine the child's number with one of the row's point and one of the column's. Functionals act on those too, so each atom has them with
 * its own nilpotents, x + e_1 v + e_2 w: four parts, made once for an engine.
 *
 *     normalize   child g(x) g(y),  g = h^(-1/2),  h(x) = child(x, x):
 *                 h_v = 2 child_(v;),  h_vw = child_(vw;) + child_(v;w) + child_(w;v) + child_(;vw) = 2 child_(vw;) + child_(v;w) + child_(w;v)
 *     centre      child - m(x) - m(y) + offset,  m(x) = mean of child(x, sample):  parts of both arguments have none of m
 *
 * h comes from the jet of the atom with itself; m from an engine of the child between the atom's parts, as functionals, and the sample.
 * An atom with itself costs up to a panel's pairs. */
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "tile/functional/functional_engine.h"

static double *jets_at(double *jets, int64_t chunk, int part)
{
    return jets + (chunk * GRAM_POINT_PARTS + part) * GRAM_PANEL;
}

static int parts_of(gram_atom_kind kind)
{
    return kind == GRAM_ATOM_SECOND ? GRAM_POINT_PARTS : kind == GRAM_ATOM_FIRST ? 2 : 1;
}

/* ---- normalize ---- */

/* g of one atom from the parts of its jet with itself: bit 0 and 1 are v and w on the left, the next two on the right. */
static void root_parts(const double *jet, int lane, int order, double g[GRAM_POINT_PARTS])
{
    const double *at = jet + lane, h = at[0], first = 1 / sqrt(h);
    g[0] = first;
    if (order == 0) return;
    const double v = 2 * at[1 * GRAM_PANEL];
    g[1] = -0.5 * first / h * v;
    if (order == 1) return;
    const double w = 2 * at[2 * GRAM_PANEL];
    const double vw = 2 * at[3 * GRAM_PANEL] + at[(1 | 8) * GRAM_PANEL] + at[(2 | 4) * GRAM_PANEL];
    g[2] = -0.5 * first / h * w;
    g[3] = first / h * (0.75 * v * w / h - 0.5 * vw);
}

static gram_status check_diagonal(gram_context *context, const gram_atoms *atoms, int64_t chunk, int lane, double h)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    if (h > 0 && !isinf(h)) return GRAM_OK;
    for (int64_t row = 0; row < atoms->expanded->n; row++)
        for (int64_t k = atoms->row_first[row]; k < atoms->row_first[row + 1]; k++)
            FAIL_IF(atoms->row_chunk[k] == chunk && atoms->row_lane[k] == lane, context, GRAM_ERROR_DOMAIN,
                    "normalize: k(x, x) = %s at point %lld; it must be positive and finite",
                    gram_number_format(h, shown), (long long)row);
done:
    return status; /* lanes that fill up are copies of others */
}

/* All atoms of one side; `engine` has it as its rows and its columns. */
static gram_status normalize_side(gram_context *context, const gram_engine *engine, int node, double *work,
                                  double *jets)
{
    gram_status status = GRAM_OK;
    const gram_atoms *atoms = &engine->functionals->rows;
    gram_atom_pair pair = gram_functional_begin_pair(engine, work);
    double g[GRAM_POINT_PARTS];
    for (int64_t c = 0; c < atoms->first[atoms->panels]; c++)
        for (int lane = 0; lane < atoms->chunks[c].lanes; lane++) {
            gram_functional_set_row(&pair, c, lane);
            gram_functional_set_column(&pair, c);
            pair.lanes = (lane / GRAM_LANES + 1) * GRAM_LANES;
            const double *jet = gram_functional_whole_jet(&pair, engine->nodes[node].children[0]);
            TRY(check_diagonal(context, atoms, c, lane, jet[lane]));
            root_parts(jet, lane, pair.by_x, g);
            for (int part = 0; part < 1 << pair.by_x; part++) jets_at(jets, c, part)[lane] = g[part];
        }
done:
    return status;
}

/* ---- centre ---- */

/* One functional for each part of each atom. */
static gram_status part_functionals(gram_context *context, const gram_points *x, gram_points **out)
{
    gram_status status = GRAM_OK;
    const gram_functionals *u = x->functionals;
    gram_points *made = NULL;
    const size_t bytes = (size_t)x->d * sizeof(double);
    int64_t count = 0, at = 0;
    for (int64_t k = 0; k < u->count; k++) count += parts_of((gram_atom_kind)u->kind[k]);
    TRY(gram_functionals_make(context, count, x->d, count, &made));
    gram_functionals *to = made->functionals;
    for (int64_t k = 0; k < u->count; k++)
        for (int part = 0; part < parts_of((gram_atom_kind)u->kind[k]); part++, at++) {
            to->first[at] = at;
            to->coefficient[at] = 1;
            to->kind[at] = (unsigned char)(part == 3 ? GRAM_ATOM_SECOND : part ? GRAM_ATOM_FIRST : GRAM_ATOM_VALUE);
            memcpy(to->place + at * x->d, u->place + k * x->d, bytes);
            if (part) memcpy(to->v + at * x->d, (part == 2 ? u->w : u->v) + k * x->d, bytes);
            if (part == 3) memcpy(to->w + at * x->d, u->w + k * x->d, bytes);
        }
    to->first[count] = count;
    TRY(gram_functionals_seal(context, made));
    *out = made;
    made = NULL;
done:
    gram_points_release(made);
    return status;
}

static gram_status centre_side(gram_context *context, const gram_point_terms *terms, const gram_atoms *atoms,
                               double *jets)
{
    gram_status status = GRAM_OK;
    const gram_functionals *u = atoms->expanded->functionals;
    gram_points *parts = NULL;
    double *means = NULL;
    int64_t at = 0;
    TRY(part_functionals(context, atoms->expanded, &parts));
    TRY(gram_take(context, "centre", parts->n, sizeof *means, (void **)&means));
    TRY(gram_terms_means(context, terms, parts, means));
    for (int64_t k = 0; k < u->count; k++)
        for (int part = 0; part < parts_of((gram_atom_kind)u->kind[k]); part++, at++)
            jets_at(jets, atoms->row_chunk[k], part)[atoms->row_lane[k]] = means[at];
done:
    gram_give(context, means);
    gram_points_release(parts);
    return status;
}

/* ---- both ---- */

static gram_status make_side(gram_context *context, gram_engine *engine, int node, const gram_atoms *atoms,
                             gram_point_jets *all, double *work)
{
    gram_status status = GRAM_OK;
    const gram_point_terms *terms = engine->nodes[node].terms;
    struct gram_functional_engine own = *engine->functionals;
    gram_engine self = *engine; /* with this side as its rows and columns */
    TRY(gram_arena_take(context, &engine->arena, "functionals: points", atoms->first[atoms->panels] * GRAM_POINT_PARTS,
                        GRAM_PANEL * sizeof(double), (void **)&all[terms->number]));
    if (terms->node == GRAM_NODE_CENTRE) return centre_side(context, terms, atoms, all[terms->number]);
    own.rows = *atoms;
    own.y = &own.rows;
    own.row_jets = own.column_jets = all;
    self.functionals = &own;
    TRY(normalize_side(context, &self, node, work, all[terms->number]));
done:
    return status;
}

/* Children come before parents among the nodes, so what a child needs is there. */
gram_status gram_functional_make_terms(gram_context *context, gram_engine *engine)
{
    gram_status status = GRAM_OK;
    struct gram_functional_engine *f = engine->functionals;
    double *work = NULL;
    if (engine->term_count == 0) return GRAM_OK;
    TRY(gram_take(context, "functionals: points", 1, gram_functional_scratch(engine), (void **)&work));
    TRY(gram_arena_take(context, &engine->arena, "functionals: points", engine->term_count, sizeof *f->row_jets,
                        (void **)&f->row_jets));
    f->column_jets = f->row_jets;
    if (f->y != &f->rows)
        TRY(gram_arena_take(context, &engine->arena, "functionals: points", engine->term_count, sizeof *f->row_jets,
                            (void **)&f->column_jets));
    for (int i = 0; i < engine->node_count; i++) {
        const gram_point_terms *terms = engine->nodes[i].terms;
        if (!terms) continue;
        FAIL_IF(terms->node == GRAM_NODE_AFTER, context, GRAM_ERROR_UNSUPPORTED,
                "functionals: none are known for after");
        FAIL_IF(terms->node == GRAM_NODE_SCALE, context, GRAM_ERROR_UNSUPPORTED,
                "functionals: none are known for scale by the function %s of a program", terms->external->name);
        if (terms->node == GRAM_NODE_CENTRE) TRY(gram_terms_centre(context, engine->terms[terms->number]));
        TRY(make_side(context, engine, i, &f->rows, f->row_jets, work));
        if (f->y != &f->rows) TRY(make_side(context, engine, i, &f->columns, f->column_jets, work));
    }
done:
    gram_give(context, work);
    return status;
}

/* ---- on a pair ---- */

/* The number of one side as a jet of the pair, in pair->factor. */
static void spread_side(const gram_atom_pair *pair, double *jets, int columns)
{
    const int parts = 1 << (columns ? pair->by_y : pair->by_x), shift = columns ? pair->by_x : 0;
    memset(pair->factor, 0, ((size_t)GRAM_PANEL << pair->bits) * sizeof *pair->factor);
    for (int part = 0; part < parts; part++) {
        const double *from = jets_at(jets, columns ? pair->column_chunk : pair->row_chunk, part);
        double *to = pair->factor + (part << shift) * GRAM_PANEL;
        for (int j = 0; j < pair->lanes; j++) to[j] = columns ? from[j] : from[pair->row_lane];
    }
}

void gram_functional_apply_terms(const gram_atom_pair *pair, const gram_point_terms *terms, int all, double *jet)
{
    const struct gram_functional_engine *f = pair->engine->functionals;
    for (int columns = 0; columns < 2; columns++) {
        spread_side(pair, (columns ? f->column_jets : f->row_jets)[terms->number], columns);
        if (terms->node == GRAM_NODE_NORMALIZE)
            gram_jet_multiply(pair, pair->factor, all || !columns, jet);
        else
            for (int i = 0; i < GRAM_PANEL << pair->bits; i++) jet[i] -= pair->factor[i];
    }
    for (int j = 0; terms->node == GRAM_NODE_CENTRE && j < pair->lanes; j++) jet[j] += terms->offset;
}
