/* Strips of K: the compiled expression evaluated for GRAM_STRIP rows against one panel of columns. */
#include <string.h>

#include "tile/embedding/bag_part.h"
#include "tile/engine.h"
#include "tile/functional/functional_engine.h"
#include "tile/objects/given_panels.h"
#include "tile/objects/sparse_panels.h"

/* ---- scratch ---- */

static size_t rounded(size_t bytes)
{
    return (bytes + GRAM_ALIGNMENT - 1) / GRAM_ALIGNMENT * GRAM_ALIGNMENT;
}

/* One mean at a time is made. */
static size_t bag_scratch(const gram_engine *engine)
{
    size_t most = 0;
    for (int i = 0; i < engine->bag_count; i++) {
        const size_t own = engine->bags[i]->rows ? rounded(gram_bag_scratch(engine->bags[i])) : 0;
        if (own > most) most = own;
    }
    return most;
}

/* Lays the scratch out from `base` on (which may be NULL to learn the size only) and returns its size. */
static size_t lay_out(const gram_engine *engine, char *base, gram_strip *strip)
{
    const size_t real = engine->single ? sizeof(float) : sizeof(double);
    size_t at = rounded(sizeof *strip);
    gram_strip laid = {0};
    laid.used = (int *)(void *)(base + at);
    at += rounded((size_t)engine->form_count * sizeof *laid.used);
    laid.kept = base + at;
    at += (size_t)engine->kept_forms * GRAM_STRIP_SIZE * real;
    laid.slots = base + at;
    at += (size_t)engine->slot_count * GRAM_STRIP_SIZE * real;
    laid.work = (double *)(void *)(base + at);
    at += 2 * GRAM_STRIP_SIZE * sizeof(double);
    laid.functional = (double *)(void *)(base + at);
    if (engine->functionals) at += gram_functional_scratch(engine);
    laid.bags = (double *)(void *)(base + at);
    at += bag_scratch(engine);
    if (strip) *strip = laid;
    return at;
}

size_t gram_engine_scratch(const gram_engine *engine)
{
    char none[1];
    return lay_out(engine, none, NULL);
}

void gram_engine_begin(const gram_engine *engine, void *scratch, const gram_worker *worker)
{
    gram_strip *strip = scratch;
    (void)lay_out(engine, scratch, strip);
    strip->worker = worker;
}

int gram_strip_stopped(const gram_strip *strip, int64_t d)
{
    enum {
        MANY_COLUMNS = 1000
    }; /* some 0.3 ms; a strip of a million takes 0.3 s, a tile of a factor thousands of strips */
    return d >= MANY_COLUMNS && strip->worker && gram_worker_stopped(strip->worker);
}

void gram_strip_move(const gram_engine *engine, gram_strip *strip, int64_t row_panel, int row, int64_t column_panel)
{
    strip->row_panel = row_panel;
    strip->row = row;
    strip->column_panel = column_panel;
    memset(strip->used, 0, (size_t)engine->form_count * sizeof *strip->used);
}

/* ---- leaves without a form ---- */

static int64_t observation(const gram_engine *engine, int64_t column)
{
    if (column >= engine->m) return -1;
    return engine->ids ? engine->ids[column] : column;
}

int gram_strip_may_share(const gram_engine *engine, const gram_strip *strip)
{
    return engine->shared && (engine->ids || strip->row_panel == strip->column_panel);
}

/* 1 where row and column are the same observation, else 0 */
static void same_observation(const gram_engine *engine, const gram_strip *strip, double *out)
{
    const int64_t first = strip->row_panel * GRAM_PANEL + strip->row;
    memset(out, 0, GRAM_STRIP_SIZE * sizeof *out);
    if (!engine->shared) return;
    for (int j = 0; j < GRAM_PANEL; j++) {
        const int64_t i = observation(engine, strip->column_panel * GRAM_PANEL + j) - first;
        if (i >= 0 && i < GRAM_STRIP) out[i * GRAM_PANEL + j] = 1;
    }
}

gram_coords_block gram_engine_coords_given(const gram_engine *engine, const gram_strip *strip,
                                           const gram_program_node *leaf, const double *dots)
{
    const int metric = engine->forms[leaf->form].metric;
    const gram_panels *rows = &engine->metrics[metric].x, *columns = gram_engine_columns(engine, metric);
    gram_coords_block block = {
        .d = rows->d,
        .rows = GRAM_STRIP,
        .columns = GRAM_PANEL,
        .ld = GRAM_PANEL,
        .x = gram_panels_f64(rows, strip->row_panel) + strip->row,
        .y = gram_panels_f64(columns, strip->column_panel),
    };
    if (leaf->type->dots) {
        block.dots = dots;
        block.x_norms = rows->norms_f64 + strip->row_panel * GRAM_PANEL + strip->row;
        block.y_norms = columns->norms_f64 + strip->column_panel * GRAM_PANEL;
    }
    return block;
}

gram_coords_block gram_engine_coords(const gram_engine *engine, const gram_strip *strip, const gram_program_node *leaf)
{
    double *dots = strip->work + GRAM_STRIP_SIZE;
    const gram_coords_block block = gram_engine_coords_given(engine, strip, leaf, dots);
    if (leaf->type->dots) engine->strips->f64.dot(block.d, block.x, block.y, dots);
    return block;
}

/* Entries of a given matrix; what lies beyond the last row or column is 0. */
static void given_entries(const gram_engine *engine, const gram_strip *strip, const gram_external *given, double *out)
{
    const int64_t first = strip->row_panel * GRAM_PANEL + strip->row;
    for (int i = 0; i < GRAM_STRIP; i++)
        for (int j = 0; j < GRAM_PANEL; j++) {
            const int64_t column = observation(engine, strip->column_panel * GRAM_PANEL + j);
            const int inside = first + i < engine->n && column >= 0;
            out[i * GRAM_PANEL + j] = inside ? given->matrix[(first + i) * given->ld + column] : 0;
        }
}

void gram_engine_special(const gram_engine *engine, const gram_strip *strip, const gram_program_node *leaf, double *out)
{
    if (leaf->type->form == GRAM_FORM_SAME) {
        same_observation(engine, strip, out);
        return;
    }
    if (leaf->type->form == GRAM_FORM_INDEX) {
        given_entries(engine, strip, leaf->shape.data, out);
        return;
    }
    if (gram_strip_stopped(strip, engine->d)) {
        memset(out, 0, GRAM_STRIP_SIZE * sizeof *out);
        return;
    }
    const gram_coords_block block = gram_engine_coords(engine, strip, leaf);
    leaf->type->coords(&engine->vecmath->f64, &leaf->shape, &block, out);
}

/* ---- where the types differ ---- */

static void profile_f64(const gram_engine *engine, gram_strip *strip, const gram_program_node *leaf, const double *s,
                        double *out)
{
    leaf->type->profile(&engine->vecmath->f64, &leaf->shape, GRAM_STRIP_SIZE, s, out, strip->work);
}

/* A kernel without a profile in f32 is widened, mapped in f64 and narrowed. */
static void profile_f32(const gram_engine *engine, gram_strip *strip, const gram_program_node *leaf, const float *s,
                        float *out)
{
    const gram_vecmath_f32 *v = &engine->vecmath->f32;
    if (leaf->type->profile_f32) {
        leaf->type->profile_f32(v, &leaf->shape, GRAM_STRIP_SIZE, s, out, (float *)(void *)strip->work);
        return;
    }
    v->widen(GRAM_STRIP_SIZE, s, strip->work);
    leaf->type->profile(&engine->vecmath->f64, &leaf->shape, GRAM_STRIP_SIZE, strip->work, strip->work,
                        strip->work + GRAM_STRIP_SIZE);
    v->narrow(GRAM_STRIP_SIZE, strip->work, out);
}

/* Strips of functionals are f64, and so are the engines that have any. */
static double *functional_f64(const gram_engine *engine, gram_strip *strip, int root)
{
    return gram_functional_strip(engine, strip, root);
}

static float *functional_f32(const gram_engine *engine, gram_strip *strip, int root)
{
    (void)engine, (void)root;
    return strip->slots;
}

/* Engines of things that are no numbers are f64, too. */
static void object_form_f64(const gram_engine *engine, gram_strip *strip, const gram_form_entry *form, double *out)
{
    const gram_metric *metric = &engine->metrics[form->metric];
    const gram_sparse_panels *panels = metric->sparse;
    if (metric->given) {
        gram_given_strip(metric->given, strip->row_panel, strip->row, strip->column_panel, out);
        return;
    }
    (form->kind == GRAM_FORM_SHARE ? gram_sparse_share
     : form->kind == GRAM_FORM_L1  ? gram_sparse_l1
     : form->kind == GRAM_FORM_DOT
         ? gram_sparse_dot
         : gram_sparse_sqdist)(engine->strips, panels, strip->row_panel, strip->row, strip->column_panel, out);
}

static void object_form_f32(const gram_engine *engine, gram_strip *strip, const gram_form_entry *form, float *out)
{
    (void)engine, (void)strip, (void)form;
    memset(out, 0, GRAM_STRIP_SIZE * sizeof *out);
}

static void from_double_f64(const gram_engine *engine, const double *x, double *out)
{
    (void)engine;
    memcpy(out, x, GRAM_STRIP_SIZE * sizeof *out);
}

static void from_double_f32(const gram_engine *engine, const double *x, float *out)
{
    engine->vecmath->f32.narrow(GRAM_STRIP_SIZE, x, out);
}

/* ---- the same code for both ---- */

#define REAL double
#define NAME(name) name##_f64
#define STRIPS engine->strips->f64
#define VECMATH engine->vecmath->f64
#include "tile/strip/strip_body.h"
#undef REAL
#undef NAME
#undef STRIPS
#undef VECMATH

#define REAL float
#define NAME(name) name##_f32
#define STRIPS engine->strips->f32
#define VECMATH engine->vecmath->f32
#include "tile/strip/strip_body.h"
#undef REAL
#undef NAME
#undef STRIPS
#undef VECMATH

void gram_engine_form(const gram_engine *engine, gram_strip *strip, int form, double *out)
{
    make_form_f64(engine, strip, &engine->forms[form], out);
}
