/* Functionals in the engine: their atoms in chunks, the check that the kernel has their derivatives, and strips of K. */
#include "tile/functional/functional_engine.h"

#include <inttypes.h>
#include <string.h>

/* ---- atoms ---- */

/* Functionals of values, for points that meet functionals. */
static gram_status as_functionals(gram_context *context, const gram_points *x, gram_points **out)
{
    gram_status status = GRAM_OK;
    gram_points *made = NULL;
    TRY(gram_functionals_make(context, x->n, x->d, x->n, &made));
    gram_functionals *u = made->functionals;
    for (int64_t i = 0; i < x->n; i++) {
        u->first[i] = i;
        u->coefficient[i] = 1;
        u->kind[i] = GRAM_ATOM_VALUE;
        for (int64_t l = 0; l < x->d; l++) u->place[i * x->d + l] = gram_points_at(x, i, l);
    }
    u->first[x->n] = x->n;
    TRY(gram_functionals_seal(context, made));
    *out = made;
    made = NULL;
done:
    gram_points_release(made);
    return status;
}

/* What one side of the request has: its functionals with rules in place of integrals, and the columns of an index. */
static gram_status make_side(gram_context *context, gram_engine *engine, const gram_kernel *kernel,
                             const gram_points *x, int64_t count, const int64_t *index, gram_atoms *atoms)
{
    gram_status status = GRAM_OK;
    gram_points *plain = NULL, *some = NULL;
    if (!x->functionals) TRY(as_functionals(context, x, &plain));
    if (index) TRY(gram_points_gather(context, plain ? plain : x, count, index, &some));
    const gram_points *from = some ? some : plain ? plain : x;
    TRY(gram_integrals_expand(context, kernel, engine->functionals->closed, from, &atoms->expanded));
    atoms->panels = (from->n + GRAM_PANEL - 1) / GRAM_PANEL;
done:
    gram_points_release(plain);
    gram_points_release(some);
    return status;
}

gram_status gram_functional_begin(gram_context *context, gram_engine *engine, const gram_engine_request *request,
                                  gram_points places[2], gram_engine_request *inner)
{
    gram_status status = GRAM_OK;
    struct gram_functional_engine *f;
    const gram_points *y = request->y ? request->y : request->x;
    *inner = *request;
    if (!request->x->functionals && !y->functionals) goto done;
    TRY(gram_arena_take(context, &engine->arena, "functionals", 1, sizeof *f, (void **)&f));
    engine->functionals = f;
    engine->single = 0;
    f->closed = gram_integrals_are_closed(request->kernel);
    for (int i = 0; i < request->other_count; i++)
        f->closed = f->closed && gram_integrals_are_closed(request->others[i]);
    TRY(make_side(context, engine, request->kernel, request->x, 0, NULL, &f->rows));
    f->y = &f->rows;
    places[0] = gram_functionals_places(f->rows.expanded);
    inner->x = &places[0];
    inner->y = NULL;
    if (!engine->symmetric) {
        TRY(make_side(context, engine, request->kernel, y, request->count, request->index, &f->columns));
        f->y = &f->columns;
        places[1] = gram_functionals_places(f->columns.expanded);
        inner->y = &places[1];
    }
done:
    return status;
}

void gram_functional_end(gram_engine *engine)
{
    struct gram_functional_engine *f = engine->functionals;
    if (!f) return;
    for (int i = 0; i < engine->metric_count; i++) {
        if (f->rows.packed) gram_memory_give(engine->memory, f->rows.packed[i]);
        if (f->columns.packed) gram_memory_give(engine->memory, f->columns.packed[i]);
    }
    gram_points_release(f->rows.expanded);
    gram_points_release(f->columns.expanded);
}

/* ---- chunks ---- */

/* Atoms of one kind in one panel; with `chunks` they are put there. Returns how many chunks they take. */
static int64_t chunk_kind(const gram_points *x, int64_t panel, gram_atom_kind kind, int64_t first, gram_atoms *atoms,
                          int64_t *source)
{
    const gram_functionals *u = x->functionals;
    const int64_t from = panel * GRAM_PANEL, to = from + GRAM_PANEL < x->n ? from + GRAM_PANEL : x->n;
    int64_t count = 0;
    for (int64_t k = u->first[from]; k < u->first[to]; k++) {
        if (u->kind[k] != kind) continue;
        if (atoms->chunks) source[(first + count / GRAM_PANEL) * GRAM_PANEL + count % GRAM_PANEL] = k;
        count++;
    }
    const int64_t chunks = (count + GRAM_PANEL - 1) / GRAM_PANEL;
    for (int64_t c = 0; atoms->chunks && c < chunks; c++) {
        const int64_t left = count - c * GRAM_PANEL, used = left < GRAM_PANEL ? left : GRAM_PANEL;
        gram_atom_chunk *chunk = &atoms->chunks[first + c];
        chunk->kind = kind;
        chunk->lanes = (int)((used + GRAM_LANES - 1) / GRAM_LANES * GRAM_LANES);
        for (int64_t j = used; j < GRAM_PANEL; j++) /* the rest are copies that count nothing */
            source[(first + c) * GRAM_PANEL + j] = source[(first + c) * GRAM_PANEL + used - 1];
        for (int64_t j = 0; j < used; j++) chunk->coefficient[j] = u->coefficient[source[(first + c) * GRAM_PANEL + j]];
    }
    return chunks;
}

/* Which atom is in which lane: `source` has its number for each lane of all chunks. */
static gram_status make_chunks(gram_context *context, gram_engine *engine, gram_atoms *atoms, int64_t **source)
{
    gram_status status = GRAM_OK;
    const char *what = "functionals: chunks";
    int64_t total = 0;
    TRY(gram_arena_take(context, &engine->arena, what, atoms->panels + 1, sizeof(int64_t), (void **)&atoms->first));
    for (int pass = 0; pass < 2; pass++) {
        total = 0;
        for (int64_t p = 0; p < atoms->panels; p++) {
            atoms->first[p] = total;
            for (int kind = GRAM_ATOM_VALUE; kind <= GRAM_ATOM_MEAN; kind++)
                total += chunk_kind(atoms->expanded, p, (gram_atom_kind)kind, total, atoms, *source);
        }
        atoms->first[atoms->panels] = total;
        if (pass) break;
        TRY(gram_take(context, what, total * GRAM_PANEL, sizeof(int64_t), (void **)source));
        TRY(gram_arena_take(context, &engine->arena, what, total, sizeof *atoms->chunks, (void **)&atoms->chunks));
    }
done:
    return status;
}

/* For each row, where its atoms are; and of each lane, which row of the panel it is. */
static gram_status index_rows(gram_context *context, gram_engine *engine, const int64_t *source, gram_atoms *atoms)
{
    gram_status status = GRAM_OK;
    const char *what = "functionals: rows";
    const gram_points *x = atoms->expanded;
    const gram_functionals *u = x->functionals;
    int64_t *row_of = NULL;
    TRY(gram_arena_take(context, &engine->arena, what, x->n + 1, sizeof(int64_t), (void **)&atoms->row_first));
    TRY(gram_arena_take(context, &engine->arena, what, u->count, sizeof(int64_t), (void **)&atoms->row_chunk));
    TRY(gram_arena_take(context, &engine->arena, what, u->count, sizeof(int), (void **)&atoms->row_lane));
    TRY(gram_take(context, what, u->count, sizeof *row_of, (void **)&row_of));
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t k = u->first[i]; k < u->first[i + 1]; k++) row_of[k] = i;
    memcpy(atoms->row_first, u->first, (size_t)(x->n + 1) * sizeof(int64_t));
    for (int64_t c = 0; c < atoms->first[atoms->panels]; c++)
        for (int j = GRAM_PANEL - 1; j >= 0; j--) { /* of the copies that fill up, the atom itself has the last word */
            const int64_t k = source[c * GRAM_PANEL + j];
            atoms->chunks[c].row[j] = (int)(row_of[k] % GRAM_PANEL);
            atoms->row_chunk[k] = c;
            atoms->row_lane[k] = j;
        }
done:
    gram_give(context, row_of);
    return status;
}

/* u, v and w of all lanes in one metric; directions are mapped without the shift. */
static gram_status pack_metric(gram_context *context, gram_engine *engine, const int64_t *source, int metric,
                               gram_atoms *atoms)
{
    gram_status status = GRAM_OK;
    const gram_points *x = atoms->expanded;
    const gram_functionals *f = x->functionals;
    const gram_mapping *mapping = &engine->metrics[metric].mapping;
    const int64_t d = mapping->d, chunks = atoms->first[atoms->panels];
    gram_mapping linear = *mapping;
    double *u = NULL;
    linear.shift = NULL;
    TRY(gram_take(context, "functionals: packed", 3 * chunks * d, GRAM_PANEL * sizeof(double),
                  (void **)&atoms->packed[metric]));
    TRY(gram_take(context, "functionals: packed", d, sizeof *u, (void **)&u));
    for (int64_t c = 0; c < chunks; c++)
        for (int part = 0; part < 3; part++) {
            const gram_points from = {.n = f->count,
                                      .d = x->d,
                                      .ld = x->d,
                                      .f64 = part == 0   ? f->place
                                             : part == 1 ? f->v
                                                         : f->w};
            double *out = atoms->packed[metric] + (3 * c + part) * d * GRAM_PANEL;
            for (int j = 0; j < GRAM_PANEL; j++) {
                gram_mapping_point(part ? &linear : mapping, &from, source[c * GRAM_PANEL + j], u);
                for (int64_t l = 0; l < d; l++) out[l * GRAM_PANEL + j] = u[l];
            }
        }
done:
    gram_give(context, u);
    return status;
}

static gram_status pack_side(gram_context *context, gram_engine *engine, gram_atoms *atoms)
{
    gram_status status = GRAM_OK;
    int64_t *source = NULL;
    TRY(make_chunks(context, engine, atoms, &source));
    TRY(index_rows(context, engine, source, atoms));
    TRY(gram_arena_take(context, &engine->arena, "functionals: packed", engine->metric_count + 1, sizeof(double *),
                        (void **)&atoms->packed));
    for (int i = 0; i < engine->metric_count; i++) TRY(pack_metric(context, engine, source, i, atoms));
done:
    gram_give(context, source);
    return status;
}

/* ---- which kernels ---- */

/* The derivatives of a leaf that the atoms of one side take, at most, and of which row. */
static int derivatives_taken(const gram_engine *engine, const gram_atoms *atoms, int metric, int64_t *row)
{
    const int64_t d = engine->metrics[metric].mapping.d;
    int most = 0;
    for (int64_t k = 0; k < atoms->expanded->functionals->count; k++) {
        const int64_t c = atoms->row_chunk[k];
        const gram_atom_kind kind = atoms->chunks[c].kind;
        int moved = 0;
        for (int part = 1; kind <= GRAM_ATOM_SECOND && part <= (int)kind; part++) {
            const double *at = gram_atoms_at(engine, atoms, metric, c, part) + atoms->row_lane[k];
            int seen = 0;
            for (int64_t l = 0; l < d; l++) seen |= at[l * GRAM_PANEL] != 0;
            moved += seen;
        }
        if (moved <= most) continue;
        most = moved;
        *row = 0;
        while (atoms->row_first[*row + 1] <= k) ++*row;
    }
    return most;
}

/* How many derivatives in each argument are written down, and how many functions of the leaf have (at most two count). */
static int written(const gram_program_node *leaf)
{
    if (leaf->type->derivatives || leaf->type->coords_derivative) return GRAM_ATOM_SECOND;
    return leaf->type->coords_jet ? GRAM_ATOM_FIRST : 0;
}

static int continuous(const gram_program_node *leaf)
{
    gram_properties facts;
    if (!leaf->type->facts) return GRAM_ATOM_SECOND; /* a kernel divided by its diagonal: smooth */
    memset(&facts, 0, sizeof facts);
    leaf->type->facts(leaf->par, leaf->shape.d, &facts);
    return facts.derivatives == GRAM_INFINITE || facts.derivatives > GRAM_ATOM_SECOND ? GRAM_ATOM_SECOND
                                                                                      : facts.derivatives;
}

static gram_status refuse_rough(gram_context *context, const gram_program_node *leaf, int64_t row, int taken)
{
    if (taken <= continuous(leaf)) {
        (void)gram_fail_place(context, GRAM_ERROR_UNSUPPORTED, row, -1,
                              "functionals: row %" PRId64 " takes %d derivative%s, which are not known for %s", row,
                              taken, taken > 1 ? "s" : "", leaf->type->name);
        return gram_advise(context, GRAM_ERROR_UNSUPPORTED,
                           "Use another kernel, or rows of values, sums and integrals.");
    }
    (void)gram_fail_place(context, GRAM_ERROR_UNSUPPORTED, row, -1,
                          "functionals: row %" PRId64
                          " takes %d derivative%s, and functions of %s have %d: it is not continuous "
                          "there",
                          row, taken, taken > 1 ? "s" : "", leaf->type->name, continuous(leaf));
    return gram_advise(
        context, GRAM_ERROR_UNSUPPORTED,
        "Use a kernel that is smoother: derivatives of order q need rbf, matern with nu > q, or sobolev with a > q.");
}

static gram_status check_leaf(gram_context *context, gram_engine *engine, int index)
{
    gram_status status = GRAM_OK;
    const struct gram_functional_engine *f = engine->functionals;
    const gram_program_node *leaf = &engine->nodes[index];
    const char *name = leaf->type->name;
    FAIL_IF(leaf->type->form == GRAM_FORM_SAME, context, GRAM_ERROR_UNSUPPORTED,
            "functionals: %s has no functionals but values; noise is an option of the fit", name);
    FAIL_IF(leaf->type->form == GRAM_FORM_INDEX, context, GRAM_ERROR_UNSUPPORTED,
            "functionals: %s is a matrix, which has none", name);
    if (leaf->form < 0) goto done;
    for (int side = 0; side < 2; side++) {
        int64_t row = 0;
        const int taken = derivatives_taken(engine, side ? f->y : &f->rows, engine->forms[leaf->form].metric, &row);
        if (taken > 0) f->sees[index] = 1;
        if (taken > written(leaf) || taken > continuous(leaf)) return refuse_rough(context, leaf, row, taken);
    }
done:
    if (status < 0) (void)gram_advise(context, status, "Leave that part of the kernel out.");
    return status;
}

static gram_status check_nodes(gram_context *context, gram_engine *engine)
{
    gram_status status = GRAM_OK;
    for (int i = 0; i < engine->node_count; i++) {
        const gram_program_node *node = &engine->nodes[i];
        if (node->node == GRAM_NODE_LEAF) TRY(check_leaf(context, engine, i));
    }
done:
    return status;
}

gram_status gram_functional_pack(gram_context *context, gram_engine *engine)
{
    gram_status status = GRAM_OK;
    struct gram_functional_engine *f = engine->functionals;
    TRY(gram_arena_take(context, &engine->arena, "functionals", engine->node_count, 1, (void **)&f->sees));
    TRY(pack_side(context, engine, &f->rows));
    if (f->y != &f->rows) TRY(pack_side(context, engine, &f->columns));
    TRY(check_nodes(context, engine));
    TRY(gram_functional_make_terms(context, engine));
done:
    return status;
}

/* ---- strips ---- */

size_t gram_functional_scratch(const gram_engine *engine)
{
    const size_t jets = (size_t)engine->slot_count + 3;
    return (jets * GRAM_JET_SIZE + GRAM_JET_DERIVATIVES * GRAM_PANEL + GRAM_STRIP_SIZE) * sizeof(double);
}

/* Adds what one atom of row i has with the columns of a chunk to their places in the strip. */
static void add_pair(const gram_atom_pair *pair, int root, double *out)
{
    const double *entries = gram_functional_pair(pair, root), c = pair->x->coefficient[pair->row_lane];
    for (int j = 0; j < pair->lanes; j++) out[pair->y->row[j]] += c * pair->y->coefficient[j] * entries[j];
}

static int order_of(gram_atom_kind kind)
{
    return kind <= GRAM_ATOM_SECOND ? (int)kind : 0;
}

gram_atom_pair gram_functional_begin_pair(const gram_engine *engine, double *work)
{
    gram_atom_pair pair = {.engine = engine, .slots = work};
    pair.form = pair.slots + (int64_t)engine->slot_count * GRAM_JET_SIZE;
    pair.product = pair.form + GRAM_JET_SIZE;
    pair.factor = pair.product + GRAM_JET_SIZE;
    pair.phi = pair.factor + GRAM_JET_SIZE;
    return pair;
}

void gram_functional_set_row(gram_atom_pair *pair, int64_t chunk, int lane)
{
    pair->row_chunk = chunk;
    pair->row_lane = lane;
    pair->x = &pair->engine->functionals->rows.chunks[chunk];
    pair->by_x = order_of(pair->x->kind);
}

void gram_functional_set_column(gram_atom_pair *pair, int64_t chunk)
{
    pair->column_chunk = chunk;
    pair->y = &pair->engine->functionals->y->chunks[chunk];
    pair->by_y = order_of(pair->y->kind);
    pair->bits = pair->by_x + pair->by_y;
    pair->lanes = pair->y->lanes;
    pair->spread = pair->x->kind > GRAM_ATOM_SECOND || pair->y->kind > GRAM_ATOM_SECOND;
}

double *gram_functional_strip(const gram_engine *engine, gram_strip *strip, int root)
{
    const struct gram_functional_engine *f = engine->functionals;
    double *out = strip->functional;
    gram_atom_pair pair = gram_functional_begin_pair(engine, out + GRAM_STRIP_SIZE);
    memset(out, 0, GRAM_STRIP_SIZE * sizeof *out);
    const int64_t first = strip->row_panel * GRAM_PANEL + strip->row;
    for (int64_t i = 0; i < GRAM_STRIP && first + i < engine->n; i++)
        for (int64_t k = f->rows.row_first[first + i]; k < f->rows.row_first[first + i + 1]; k++) {
            gram_functional_set_row(&pair, f->rows.row_chunk[k], f->rows.row_lane[k]);
            for (int64_t c = f->y->first[strip->column_panel]; c < f->y->first[strip->column_panel + 1]; c++) {
                gram_functional_set_column(&pair, c);
                add_pair(&pair, root, out + i * GRAM_PANEL);
            }
        }
    return out;
}
