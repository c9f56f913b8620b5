/* Areas of a map. Drawn as squares the cells would make stairs of every border. So between the middles of two neighbours with different
 * labels the place where the label changes is looked for, by halving what is left of the way, and the border goes straight from one such
 * place to the next: a contour by marching squares, whose corners are on the border itself. Where three areas meet it ends in their middle.
 *
 * The cells are drawn as an image; over it, in each square between four middles that are not of one label, patches on the sides of the border.
 */
#include "picture/map_parts.h"

#include <inttypes.h>

#include "picture/script_parts.h"

enum { HALVINGS = 8, CORNERS = 4 };

/* ---- places ---- */

/* Units of cells, in which whole numbers are their middles, to those of the map. */
static double map_unit(const gram_map *map, int axis, double cell)
{
    return map->low[axis] + (map->high[axis] - map->low[axis]) * (cell + 0.5) / (double)map->side;
}

static double own_unit(const gram_preparation *preparation, int axis, double value)
{
    return preparation ? gram_preparation_unit(preparation, axis, value) : value;
}

void gram_script_place(gram_string *script, const gram_map *map, const gram_preparation *preparation, double i,
                       double j)
{
    const double cell[] = {i, j};
    for (int axis = 0; axis < 2; axis++)
        gram_script_number(script, own_unit(preparation, axis, map_unit(map, axis, cell[axis])), " ");
}

void gram_script_frame(gram_string *script, const gram_map *map, const gram_preparation *preparation)
{
    static const char *const axes[] = {"x", "y"};
    for (int axis = 0; axis < 2; axis++)
        gram_script_range(script, axes[axis], own_unit(preparation, axis, map->low[axis]),
                          own_unit(preparation, axis, map->high[axis]));
}

/* ---- where labels change ---- */

/* One more row of middles on each side, outside the frame, with the labels of those beside them, lets borders reach the frame. */
typedef struct net {
    const gram_map *map;
    int64_t side;
    double *
        at; /* where the label changes from (i, j) along each axis, as a share of the way to the next; 0: it does not */
} net;

typedef struct point {
    double at[2];
} point;

/* Where borders cross a square, going round; sides[c] is the side, from corner sides[c] to the next. */
typedef struct crossings {
    int count; /* 0, 2, 3 or 4 */
    int sides[CORNERS];
    point points[CORNERS];
    point middle; /* where they meet if there are more than two */
} crossings;

static double label(const net *n, int64_t i, int64_t j)
{
    const int64_t side = n->map->side;
    const int64_t a = i < 1 ? 0 : i > side ? side - 1 : i - 1, b = j < 1 ? 0 : j > side ? side - 1 : j - 1;
    return n->map->values[a * side + b];
}

/* Corner c of square (i, j). */
static void find_corner(int64_t i, int64_t j, int c, int64_t corner[2])
{
    corner[0] = i + (c == 1 || c == 2);
    corner[1] = j + (c >= 2);
}

static crossings find_crossings(const net *n, int64_t i, int64_t j)
{
    static const int from[CORNERS] = {0, 1, 3, 0}; /* the corner that a side's crossing is counted from */
    crossings found = {0};
    if (i < 0 || j < 0 || i > n->side - 2 || j > n->side - 2) return found;
    for (int s = 0; s < CORNERS; s++) {
        int64_t corner[2];
        find_corner(i, j, from[s], corner);
        const double share = n->at[2 * (corner[0] * n->side + corner[1]) + s % 2];
        if (share == 0) continue;
        point *p = &found.points[found.count];
        for (int axis = 0; axis < 2; axis++) p->at[axis] = (double)corner[axis] + (axis == s % 2 ? share : 0);
        found.sides[found.count++] = s;
    }
    for (int c = 0; c < found.count; c++)
        for (int axis = 0; axis < 2; axis++) found.middle.at[axis] += found.points[c].at[axis] / found.count;
    return found;
}

/* The ways on which the label changes, and a place on each of them. */
typedef struct ways {
    int64_t count;
    int64_t *index; /* in net.at */
    double *places, *labels;
} ways;

static int64_t find_ways(const net *n, int64_t *index)
{
    int64_t count = 0;
    for (int64_t e = 0; e < 2 * n->side * n->side; e++) {
        const int64_t i = e / 2 / n->side, j = e / 2 % n->side, a = i + (e % 2 == 0), b = j + (e % 2 == 1);
        if (a < n->side && b < n->side && label(n, i, j) != label(n, a, b)) index[count++] = e;
    }
    return count;
}

/* The place on way w that is `further` on than where the label is known not to have changed; in the frame. */
static void find_place(const net *n, const ways *w, int64_t k, double further)
{
    const int64_t e = w->index[k], from[] = {e / 2 / n->side, e / 2 % n->side};
    for (int axis = 0; axis < 2; axis++) {
        const double cell = (double)(from[axis] - 1) + (axis == e % 2 ? n->at[e] + further : 0);
        const double at = map_unit(n->map, axis, cell), low = n->map->low[axis], high = n->map->high[axis];
        w->places[2 * k + axis] = at < low ? low : at > high ? high : at;
    }
}

static gram_status halve(gram_context *context, const gram_areas *areas, net *n, const ways *w, double further)
{
    gram_status status = GRAM_OK;
    for (int64_t k = 0; k < w->count; k++) find_place(n, w, k, further);
    TRY(areas->label(context, areas->of, n->map, w->count, w->places, w->labels));
    for (int64_t k = 0; k < w->count; k++) {
        const int64_t e = w->index[k];
        if (w->labels[k] == label(n, e / 2 / n->side, e / 2 % n->side)) n->at[e] += further;
    }
done:
    return status;
}

static gram_status make_net(gram_context *context, gram_picture *picture, const gram_areas *areas, net *n)
{
    gram_status status = GRAM_OK;
    const int64_t side = areas->map->side + 2, most = 2 * side * side;
    ways w = {0};
    double further = 1;
    *n = (net){.map = areas->map, .side = side};
    TRY(gram_picture_take(context, picture, most, sizeof *n->at, (void **)&n->at));
    TRY(gram_picture_take(context, picture, most, sizeof *w.index, (void **)&w.index));
    w.count = find_ways(n, w.index);
    if (w.count == 0) return status;
    TRY(gram_picture_take(context, picture, 2 * w.count, sizeof *w.places, (void **)&w.places));
    TRY(gram_picture_take(context, picture, w.count, sizeof *w.labels, (void **)&w.labels));
    for (int h = 0; h < HALVINGS; h++) TRY(halve(context, areas, n, &w, further /= 2));
    for (int64_t k = 0; k < w.count; k++) n->at[w.index[k]] += further / 2;
done:
    return status;
}

gram_status gram_label_by_predictor(gram_context *context, const void *of, const gram_map *map, int64_t n,
                                    const double *places, double *labels)
{
    gram_status status = GRAM_OK;
    const int64_t ld = gram_predictor_columns(of)->ld;
    double *values = NULL;
    (void)map;
    TRY(gram_take(context, "picture", n * ld, sizeof *values, (void **)&values));
    TRY(gram_predictor_evaluate(context, of, n, places, NULL, values, ld));
    for (int64_t i = 0; i < n; i++) labels[i] = values[i * ld];
done:
    gram_give(context, values);
    return status;
}

/* ---- blocks ---- */

static int64_t colour_of(const gram_areas *areas, double value)
{
    return ((int64_t)value - areas->first) % GRAM_PICTURE_COLOURS;
}

static void add_cells(gram_string *script, const gram_areas *areas)
{
    const int64_t side = areas->map->side;
    gram_string_add(script, "$frame << END_OF_FRAME\n");
    for (int64_t c = 0; c < side * side; c++) {
        gram_script_place(script, areas->map, areas->preparation, (double)(c / side), (double)(c % side));
        gram_string_add(script, "%" PRId64 "\n", colour_of(areas, areas->map->values[c]));
    }
    gram_string_add(script, "END_OF_FRAME\n");
}

/* In units of the net, whose own first row is outside the frame. */
static void add_point(gram_string *script, const gram_areas *areas, const point *p)
{
    gram_script_place(script, areas->map, areas->preparation, p->at[0] - 1, p->at[1] - 1);
    gram_string_add(script, "\n");
}

/* The part of square (i, j) that begins at crossing c: the corners up to the next crossing, and the way back. Nothing if it is not of
 * this colour; returns whether it is. */
static int add_patch(gram_string *script, const gram_areas *areas, const net *n, int64_t i, int64_t j,
                     const crossings *found, int c, int64_t colour)
{
    const int next = (c + 1) % found->count, last = found->sides[next];
    int corner = (found->sides[c] + 1) % CORNERS;
    int64_t at[2];
    find_corner(i, j, corner, at);
    if (colour_of(areas, label(n, at[0], at[1])) != colour) return 0;
    add_point(script, areas, &found->points[c]);
    for (;; corner = (corner + 1) % CORNERS) {
        find_corner(i, j, corner, at);
        add_point(script, areas, &(point){{(double)at[0], (double)at[1]}});
        if (corner == last) break;
    }
    add_point(script, areas, &found->points[next]);
    if (found->count > 2) add_point(script, areas, &found->middle);
    gram_string_add(script, "\n");
    return 1;
}

static void add_patches(gram_string *script, gram_areas *areas, const net *n, int64_t colour)
{
    gram_string_add(script, "$patch%" PRId64 " << END_OF_PATCHES\n", colour);
    for (int64_t i = 0; i < n->side - 1; i++)
        for (int64_t j = 0; j < n->side - 1; j++) {
            const crossings found = find_crossings(n, i, j);
            for (int c = 0; c < found.count; c++)
                areas->colours[colour] |= add_patch(script, areas, n, i, j, &found, c, colour);
        }
    gram_string_add(script, "END_OF_PATCHES\n");
}

static void add_borders(gram_string *script, const gram_areas *areas, const net *n)
{
    gram_string_add(script, "$borders << END_OF_BORDERS\n");
    for (int64_t i = 0; i < n->side - 1; i++)
        for (int64_t j = 0; j < n->side - 1; j++) {
            const crossings found = find_crossings(n, i, j);
            for (int c = 0; c < (found.count == 2 ? 1 : found.count); c++) {
                add_point(script, areas, &found.points[c]);
                add_point(script, areas, found.count == 2 ? &found.points[1] : &found.middle);
                gram_string_add(script, "\n");
            }
        }
    gram_string_add(script, "END_OF_BORDERS\n");
}

gram_status gram_script_areas(gram_context *context, gram_picture *picture, gram_areas *areas)
{
    gram_status status = GRAM_OK;
    gram_string *script = &picture->script;
    net n;
    TRY(make_net(context, picture, areas, &n));
    add_cells(script, areas);
    for (int64_t c = 0; c < GRAM_PICTURE_COLOURS; c++) add_patches(script, areas, &n, c);
    add_borders(script, areas, &n);
    gram_script_frame(script, areas->map, areas->preparation);
done:
    return status;
}

/* ---- the plot ---- */

static const char *tint(const gram_areas *areas, int colour)
{
    static const char *const pale[] = {"#cfe0f0", "#f8dccb", "#d5ead5", "#e6d5ee", "#f0e6c8", "#cdeae4"};
    static const char *const grey[] = {"#f4f4f4", "#e2e2e2", "#efefef", "#dddddd", "#eaeaea", "#d8d8d8"};
    return areas->neutral ? grey[colour] : pale[colour];
}

/* The image has its colours from a string of them: the palette stays free for points. */
static void plot_cells(gram_string *script, const gram_areas *areas)
{
    gram_string_add(script, "unset grid\ntints = '");
    for (int c = 0; c < GRAM_PICTURE_COLOURS; c++) gram_string_add(script, " 0x%s", tint(areas, c) + 1);
    gram_string_add(script, "'\ntint(c, shift) = (int(word(tints, int(c) + 1)) >> shift) & 255\n"
                            "plot $frame using 1:2:(tint($3, 16)):(tint($3, 8)):(tint($3, 0)) with rgbimage notitle");
}

void gram_script_plot_areas(gram_string *script, const gram_areas *areas, int borders)
{
    int several = 0;
    plot_cells(script, areas);
    for (int c = 0; c < GRAM_PICTURE_COLOURS; c++) {
        if (!areas->colours[c]) continue;
        several = 1;
        gram_string_add(script, ", $patch%d with filledcurves closed fc rgb '%s' fs solid border lc rgb '%s' notitle",
                        c, tint(areas, c), tint(areas, c));
    }
    if (borders && several) gram_string_add(script, ", $borders with lines lw 1.5 lc rgb '#404040' notitle");
}
