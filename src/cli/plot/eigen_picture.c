#include "cli/plot/eigen_picture.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/plot/gnuplot.h"

enum { PLACES = 400, CURVES = 5 };

static void add_spectrum(gram_string *script, const gram_model *model)
{
    static const struct {
        const char *array, *look;
    } lists[] = {{"eigenvalues", "linespoints pt 7 ps 0.7 lc rgb '#0060ad' title 'eigenvalues of the rows'"},
                 {"analytic", "points pt 6 ps 1.4 lc rgb '#c04000' title 'under the measure'"}};
    char number[GRAM_NUMBER_SIZE];
    int64_t rows, columns, most = 0;
    for (int l = 0; l < 2; l++) {
        const double *values = gram_model_array(model, lists[l].array, &rows, &columns);
        if (!values) continue;
        gram_string_add(script, "$%s << END_OF_VALUES\n", lists[l].array);
        for (int64_t i = 0; i < rows * columns; i++)
            if (values[i] > 0)
                gram_string_add(script, "%" PRId64 " %s\n", i + 1, gram_number_format(values[i], number));
        gram_string_add(script, "END_OF_VALUES\n");
        most = rows * columns;
    }
    gram_string_add(script,
                    "set xlabel 'number'\nset ylabel 'eigenvalue'\nset logscale y\nset format y '%%h'\nset grid\n"
                    "set key bottom left Left reverse\nset xrange [0:%" PRId64 "]\nplot ",
                    most + 1);
    for (int l = 0; l < 2; l++)
        if (gram_model_array(model, lists[l].array, &rows, &columns))
            gram_string_add(script, "%s$%s with %s", l > 0 ? ", " : "", lists[l].array, lists[l].look);
    gram_string_add(script, "\nunset logscale y\nset xrange [*:*]\n");
}

/* The first columns that the model predicts, over the range of its only feature. */
static gram_status add_curves(cli_session *session, gram_string *script, const cli_eigen_picture *picture)
{
    const gram_prepared *data = picture->data;
    const gram_preparation *preparation = gram_model_preparation(picture->model);
    double least = data->x[0], most = data->x[0], x[PLACES];
    char number[GRAM_NUMBER_SIZE];
    gram_predictor *predictor = NULL;
    gram_status status = gram_predictor_create(session->context, picture->model, NULL, &predictor);
    if (status < 0) return status;
    const gram_columns *columns = gram_predictor_columns(predictor);
    const int64_t curves = columns->count < CURVES ? columns->count : CURVES;
    double *values = calloc((size_t)(PLACES * columns->ld), sizeof *values);
    for (int64_t i = 1; i < data->n; i++) {
        least = data->x[i] < least ? data->x[i] : least;
        most = data->x[i] > most ? data->x[i] : most;
    }
    for (int i = 0; i < PLACES; i++) x[i] = least + (most - least) * i / (PLACES - 1);
    status = values ? gram_predictor_evaluate(session->context, predictor, PLACES, x, NULL, values, columns->ld)
                    : GRAM_ERROR_MEMORY;
    gram_string_add(script, "$curves << END_OF_VALUES\n");
    for (int i = 0; i < PLACES && status >= 0; i++) {
        gram_string_add(script, "%s", gram_number_format(gram_preparation_unit(preparation, 0, x[i]), number));
        for (int64_t j = 0; j < curves; j++)
            gram_string_add(script, " %s", gram_number_format(values[i * columns->ld + j], number));
        gram_string_add(script, "\n");
    }
    gram_string_add(script, "END_OF_VALUES\nset xlabel ");
    cli_plot_quote(script, gram_preparation_describe(preparation)->features[0].name);
    gram_string_add(script, "\nset ylabel 'eigenfunctions'\nset key outside top center horizontal\nplot ");
    for (int64_t j = 0; j < curves; j++)
        gram_string_add(script, "%s$curves using 1:%" PRId64 " with lines lw 2 title '%s'", j > 0 ? ", " : "", j + 2,
                        columns->names[j]);
    gram_string_add(script, "\n");
    free(values);
    gram_predictor_destroy(predictor);
    return status;
}

int cli_eigen_picture_draw(cli_session *session, const char *path, const cli_eigen_picture *picture)
{
    gram_string script = {0};
    const int both = picture->data->d == 1;
    gram_status status = GRAM_OK;
    if (both) {
        gram_string words = {0};
        gram_string_add(&words, " on %s", cli_plot_file(picture->file));
        gram_string_add(&script, "set multiplot layout 1,2 title ");
        cli_plot_heading(&script, picture->kernel, words.data ? words.data : "");
        gram_string_add(&script, "\n");
        gram_string_free(&words);
    } else {
        cli_plot_title(&script, picture->kernel, picture->file);
    }
    add_spectrum(&script, picture->model);
    if (both) status = add_curves(session, &script, picture);
    if (both) gram_string_add(&script, "unset multiplot\n");
    const int code = status < 0 ? cli_session_fail(session, status, 0, NULL)
                                : cli_plot(session, path, both ? 1100 : 800, 480, &script);
    gram_string_free(&script);
    return code;
}
