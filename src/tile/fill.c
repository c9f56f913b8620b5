#include "tile/fill.h"

#include <string.h>

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void write_strip(const double *k, int64_t rows, int64_t columns, double *out, int64_t ld)
{
    for (int64_t i = 0; i < rows; i++) memcpy(out + i * ld, k + i * GRAM_PANEL, (size_t)columns * sizeof *out);
}

/* Column by column: a full strip's column is two whole cache lines of the mirror. */
static void write_mirror(const double *k, int64_t rows, int64_t columns, double *out, int64_t ld)
{
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++) out[j * ld + i] = k[i * GRAM_PANEL + j];
}

static const double *strip_in_double(const gram_engine *engine, void *scratch, int64_t row_panel, int row,
                                     int64_t column_panel)
{
    if (!engine->single) return gram_engine_strip_f64(engine, scratch, row_panel, row, column_panel);
    const float *narrow = gram_engine_strip_f32(engine, scratch, row_panel, row, column_panel);
    double *wide = ((gram_strip *)scratch)->work;
    engine->vecmath->f32.widen(GRAM_STRIP_SIZE, narrow, wide);
    return wide;
}

void gram_fill_tile(const gram_engine *engine, void *scratch, int64_t row_panel, int64_t column_panel, double *out,
                    int64_t ld, double *mirror, int64_t ld_mirror)
{
    const int64_t columns = least(GRAM_PANEL, engine->m - column_panel * GRAM_PANEL);
    for (int row = 0; row < GRAM_PANEL; row += GRAM_STRIP) {
        const int64_t rows = least(GRAM_STRIP, engine->n - row_panel * GRAM_PANEL - row);
        if (rows <= 0) break;
        const double *k = strip_in_double(engine, scratch, row_panel, row, column_panel);
        write_strip(k, rows, columns, out + row * ld, ld);
        if (mirror) write_mirror(k, rows, columns, mirror + row, ld_mirror);
    }
}

static const float *strip_in_single(const gram_engine *engine, void *scratch, int64_t row_panel, int row,
                                    int64_t column_panel)
{
    if (engine->single) return gram_engine_strip_f32(engine, scratch, row_panel, row, column_panel);
    const double *wide = gram_engine_strip_f64(engine, scratch, row_panel, row, column_panel);
    float *narrow = (float *)(void *)((gram_strip *)scratch)->work;
    engine->vecmath->f32.narrow(GRAM_STRIP_SIZE, wide, narrow);
    return narrow;
}

void gram_fill_tile_f32(const gram_engine *engine, void *scratch, int64_t row_panel, int64_t column_panel, float *out,
                        int64_t ld)
{
    const int64_t columns = least(GRAM_PANEL, engine->m - column_panel * GRAM_PANEL);
    for (int row = 0; row < GRAM_PANEL; row += GRAM_STRIP) {
        const int64_t rows = least(GRAM_STRIP, engine->n - row_panel * GRAM_PANEL - row);
        if (rows <= 0) break;
        const float *k = strip_in_single(engine, scratch, row_panel, row, column_panel);
        for (int64_t i = 0; i < rows; i++)
            memcpy(out + (row + i) * ld, k + i * GRAM_PANEL, (size_t)columns * sizeof *out);
    }
}

void gram_fill_mirror(const gram_engine *engine, int64_t panel, double *out, int64_t ld)
{
    const int64_t size = least(GRAM_PANEL, engine->n - panel * GRAM_PANEL);
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = i + 1; j < size; j++) out[i * ld + j] = out[j * ld + i];
}
