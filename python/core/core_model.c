/* Models and predictors. Neither changes once it is made: any number of threads may use them. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

static PyTypeObject *model_type = NULL, *predictor_type = NULL;

PyObject *core_model_object(gram_model *model)
{
    core_model *made = core_new(model_type);
    if (made)
        made->model = model;
    else
        gram_model_destroy(model);
    return (PyObject *)made;
}

int core_model_get(PyObject *object, gram_model **model)
{
    if (PyObject_TypeCheck(object, model_type)) {
        *model = ((core_model *)object)->model;
        return 0;
    }
    PyErr_SetString(PyExc_TypeError, "a model is needed");
    return -1;
}

static gram_model *own(PyObject *self)
{
    return ((core_model *)self)->model;
}

static void forget_model(PyObject *self)
{
    gram_model_destroy(own(self));
    core_free(self);
}

/* ---- files and bytes ---- */

static PyObject *read_model(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *run, *path, *held;
    const char *bytes = NULL;
    gram_model *model = NULL;
    core_call call;
    gram_status status = GRAM_OK;
    if (!PyArg_ParseTuple(arguments, "OO", &run, &path) || !(held = core_path(path, &bytes))) return NULL;
    if (core_begin(&call, run, CORE_ALL_MEMORY) == 0) {
        CORE_RUN(&call, status = gram_model_read(call.context, bytes, &model));
        (void)core_end(&call, status);
    }
    Py_DECREF(held);
    return PyErr_Occurred() ? NULL : core_model_object(model);
}

/* model_of_bytes(run, bytes, kernel): the kernel of bytes that lack it. */
static PyObject *model_of_bytes(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *run = NULL;
    Py_buffer view;
    gram_model *model = NULL;
    core_call call;
    gram_status status = GRAM_OK;
    PyObject *kernel_object = Py_None;
    gram_kernel *kernel = NULL;
    if (!PyArg_ParseTuple(arguments, "Oy*|O", &run, &view, &kernel_object)) return NULL;
    if (core_kernel_get(kernel_object, &kernel) == 0 && core_begin(&call, run, CORE_ALL_MEMORY) == 0) {
        CORE_RUN(&call,
                 status = gram_model_read_part(call.context, "the model", view.buf, (size_t)view.len, kernel, &model));
        (void)core_end(&call, status);
    }
    PyBuffer_Release(&view);
    return PyErr_Occurred() ? NULL : core_model_object(model);
}

static PyObject *write_model(PyObject *self, PyObject *arguments)
{
    PyObject *run, *path, *held;
    const char *bytes = NULL;
    core_call call;
    gram_status status = GRAM_OK;
    if (!PyArg_ParseTuple(arguments, "OO", &run, &path) || !(held = core_path(path, &bytes))) return NULL;
    if (core_begin(&call, run, CORE_ALL_MEMORY) == 0) {
        CORE_RUN(&call, status = gram_model_write(call.context, own(self), bytes));
        (void)core_end(&call, status);
    }
    Py_DECREF(held);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* to_bytes(run, part): with `part`, all but a kernel that has no text. */
static PyObject *bytes_of_model(PyObject *self, PyObject *arguments)
{
    PyObject *run = NULL, *bytes = NULL;
    core_call call;
    size_t size = 0;
    int part = 0;
    if (!PyArg_ParseTuple(arguments, "O|p", &run, &part) || core_begin(&call, run, CORE_ALL_MEMORY) < 0) return NULL;
    gram_status (*put)(gram_context *, const gram_model *, void *, size_t, size_t *) =
        part ? gram_model_write_part : gram_model_write_memory;
    gram_status status = put(call.context, own(self), NULL, 0, &size);
    if (status >= 0) bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (bytes) {
        char *place = PyBytes_AsString(bytes);
        CORE_RUN(&call, status = put(call.context, own(self), place, size, &size));
    }
    if (core_end(&call, status) < 0) Py_CLEAR(bytes);
    return bytes;
}

/* ---- what it is ---- */

static PyObject *rows_of(const gram_description *description)
{
    PyObject *rows = PyList_New(0);
    for (int64_t i = 0; rows && i < gram_description_count(description); i++) {
        PyObject *row =
            Py_BuildValue("ss", gram_description_label(description, i), gram_description_value(description, i));
        if (!row || PyList_Append(rows, row) < 0) Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    return rows;
}

/* (JSON as `gram info --json` has it, rows of the report). */
static PyObject *describe(PyObject *self, PyObject *arguments)
{
    const char *file = NULL;
    gram_description *description = NULL;
    gram_string text = {0};
    gram_json json = {.text = &text};
    PyObject *made = NULL;
    if (!PyArg_ParseTuple(arguments, "z", &file)) return NULL;
    gram_context *context = core_context();
    if (!context) return NULL;
    const gram_status status = gram_model_describe(context, own(self), file, &description);
    if (status < 0) {
        (void)core_raise(context, status);
    } else {
        gram_json_open(&json, NULL, '{');
        gram_description_json(description, &json);
        gram_json_close(&json, '{');
        PyObject *rows = rows_of(description), *said = core_text(&text);
        if (rows && said) made = Py_BuildValue("OO", said, rows);
        Py_XDECREF(rows);
        Py_XDECREF(said);
    }
    gram_description_destroy(description);
    gram_context_destroy(context);
    return made;
}

static gram_function *function_of(PyObject *self, int second)
{
    return second ? gram_model_second_function(own(self)) : gram_model_function(own(self));
}

static PyObject *kernel_of(PyObject *self, PyObject *arguments)
{
    int second = 0;
    if (!PyArg_ParseTuple(arguments, "p", &second)) return NULL;
    gram_function *function = function_of(self, second);
    if (!function) Py_RETURN_NONE;
    return core_kernel_object(gram_kernel_retain(gram_function_kernel(function)));
}

/* JSON of the columns that it was learnt from; None if it has none. */
static PyObject *columns_of(PyObject *self, PyObject *arguments)
{
    int second = 0;
    gram_string text = {0};
    gram_json json = {.text = &text};
    if (!PyArg_ParseTuple(arguments, "p", &second)) return NULL;
    const gram_preparation *p = second ? gram_model_second_preparation(own(self)) : gram_model_preparation(own(self));
    if (!p) Py_RETURN_NONE;
    gram_json_open(&json, NULL, '{');
    gram_preparation_json(p, &json);
    gram_json_close(&json, '{');
    return core_text(&text);
}

/* (centres, coefficients, constants) as (bytearray, rows, columns) each; centres in f32 are widened. */
static PyObject *parts_of(PyObject *self, PyObject *arguments)
{
    int second = 0;
    if (!PyArg_ParseTuple(arguments, "p", &second)) return NULL;
    const gram_function *f = function_of(self, second);
    if (!f) Py_RETURN_NONE;
    const gram_points *centres = gram_function_centres(f);
    const int64_t n = gram_points_count(centres), d = gram_points_dimension(centres), m = gram_function_outputs(f);
    const float *narrow = gram_function_centres_f32(f);
    double *place = NULL;
    PyObject *memory = core_memory((size_t)(n * d) * sizeof *place, &place);
    if (!memory) return NULL;
    if (narrow)
        for (int64_t i = 0; i < n * d; i++) place[i] = narrow[i];
    else
        memcpy(place, gram_function_centres_f64(f), (size_t)(n * d) * sizeof *place);
    PyObject *coefficients = core_numbers(gram_function_coefficients(f), n, m);
    PyObject *constant = core_numbers(gram_function_constant(f), 1, gram_function_constant(f) ? m : 0);
    return Py_BuildValue("(NLL)NN", memory, (long long)n, (long long)d, coefficients, constant);
}

static PyObject *array_of(PyObject *self, PyObject *arguments)
{
    const char *name = NULL;
    int64_t rows = 0, columns = 0;
    if (!PyArg_ParseTuple(arguments, "s", &name)) return NULL;
    const double *data = gram_model_array(own(self), name, &rows, &columns);
    if (!data) Py_RETURN_NONE;
    return core_numbers(data, rows, columns);
}

/* A fact by its name: a number, a text, or None. */
static PyObject *fact_of(PyObject *self, PyObject *arguments)
{
    const char *name = NULL;
    if (!PyArg_ParseTuple(arguments, "s", &name)) return NULL;
    const gram_fact fact = gram_model_find(own(self), name);
    if (!fact.name) Py_RETURN_NONE;
    if (fact.kind == GRAM_FACT_TEXT) return PyUnicode_DecodeUTF8(fact.text, (Py_ssize_t)strlen(fact.text), "replace");
    return PyFloat_FromDouble(fact.number);
}

static PyObject *kind_of(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    const gram_model *model = own(self);
    return Py_BuildValue("sssii", gram_model_method(model), gram_model_task(model), gram_model_version(model),
                         gram_model_has_intervals(model), gram_model_is_process(model));
}

/* ---- predictors ---- */

typedef struct core_predictor {
    PyObject_HEAD PyObject *model; /* it borrows from it */
    PyObject *view;                /* and from its name */
    gram_predictor *predictor;
} core_predictor;

static void forget_predictor(PyObject *self)
{
    core_predictor *p = (core_predictor *)self;
    gram_predictor_destroy(p->predictor);
    Py_XDECREF(p->model);
    Py_XDECREF(p->view);
    core_free(self);
}

/* predictor(run, std, interval, latent, terms, prob, scores, reconstruct, view). */
static PyObject *make_predictor(PyObject *self, PyObject *arguments)
{
    PyObject *run = NULL, *view = NULL;
    gram_predict_options o;
    core_call call;
    gram_status status = GRAM_OK;
    gram_predict_options_init(&o, sizeof o);
    if (!PyArg_ParseTuple(arguments, "OpdpppppO", &run, &o.std, &o.interval, &o.latent, &o.terms, &o.prob, &o.scores,
                          &o.reconstruct, &view))
        return NULL;
    if (view != Py_None && !(o.view = PyUnicode_AsUTF8AndSize(view, NULL))) return NULL;
    o.dashes = "\1";
    core_predictor *made = core_new(predictor_type);
    if (!made) return NULL;
    Py_INCREF(self);
    made->model = self;
    Py_INCREF(view);
    made->view = view;
    if (core_begin(&call, run, CORE_FREE_MEMORY) == 0) {
        CORE_RUN(&call, status = gram_predictor_create(call.context, own(self), &o, &made->predictor));
        if (core_end(&call, status) == 0) return (PyObject *)made;
    }
    Py_DECREF((PyObject *)made);
    return NULL;
}

static PyObject *texts_of(int64_t count, const char *const *names)
{
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < count; i++) {
        PyObject *text = PyUnicode_DecodeUTF8(names[i], (Py_ssize_t)strlen(names[i]), "replace");
        if (!text || PyList_Append(list, text) < 0) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *numbers_of(int64_t count, const double *values)
{
    if (!values) Py_RETURN_NONE;
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < count; i++) {
        PyObject *number = PyFloat_FromDouble(values[i]);
        if (!number || PyList_Append(list, number) < 0) Py_CLEAR(list);
        Py_XDECREF(number);
    }
    return list;
}

static PyObject *predicted_columns(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    const gram_columns *c = gram_predictor_columns(((core_predictor *)self)->predictor);
    return Py_BuildValue("{s:L,s:L,s:N,s:L,s:N,s:N,s:L,s:L,s:L,s:L,s:L,s:L,s:N,s:d,s:d}", "count", (long long)c->count,
                         "ld", (long long)c->ld, "names", texts_of(c->count, c->names), "outputs",
                         (long long)c->outputs, "classes", texts_of(c->classes->count, c->classes->names), "values",
                         numbers_of(c->classes->count, c->classes->values), "probability", (long long)c->probability,
                         "score", (long long)c->score, "std", (long long)c->std, "lower", (long long)c->lower, "upper",
                         (long long)c->upper, "term", (long long)c->term, "levels",
                         numbers_of(c->level_count, c->levels), "half_width", c->half_width, "freedom", c->freedom);
}

/* ---- evaluation ---- */

typedef struct places {
    const gram_predictor *predictor;
    core_sparse sparse; /* in place of x */
    core_array x, weights, out;
    core_columns features;
} places;

enum { PIECE = 1 << 22 }; /* numbers of prepared rows that are held at once */

/* Rows of numbers, prepared piece by piece; as they are where nothing is scaled. */
static gram_status evaluate_numbers(gram_context *context, const places *p, const gram_preparation *preparation)
{
    const gram_preparation_description *known = preparation ? gram_preparation_describe(preparation) : NULL;
    const int64_t n = p->x.n, d = p->x.d;
    const double *w = p->weights.f64;
    if ((!known || !known->scaled) && p->x.ld == d)
        return gram_predictor_evaluate(context, p->predictor, n, p->x.f64, w, p->out.f64, p->out.ld);
    const int64_t most = PIECE / d + 1, piece = n < most ? n : most;
    double *rows = malloc((size_t)(piece * d) * sizeof *rows);
    gram_status status = rows ? GRAM_OK : GRAM_ERROR_MEMORY;
    for (int64_t i = 0; i < n && status >= 0; i += piece) {
        const int64_t count = n - i < piece ? n - i : piece;
        const double *x = p->x.f64 + i * p->x.ld;
        if (known)
            gram_preparation_scale(preparation, count, x, p->x.ld, rows);
        else
            for (int64_t k = 0; k < count; k++) memcpy(rows + k * d, x + k * p->x.ld, (size_t)d * sizeof *rows);
        status = gram_predictor_evaluate(context, p->predictor, count, rows, w ? w + i : NULL,
                                         p->out.f64 + i * p->out.ld, p->out.ld);
    }
    free(rows);
    return status;
}

/* Rows with text and sparse rows go the way of files. */
static gram_status evaluate_table(gram_context *context, const places *p, const gram_preparation *preparation)
{
    gram_arrays arrays;
    gram_table *table = NULL;
    gram_prepared *prepared = NULL;
    gram_arrays_init(&arrays, sizeof arrays);
    arrays.n = p->x.n;
    arrays.d = p->x.d;
    arrays.x = p->x.f64;
    arrays.ldx = p->x.ld;
    arrays.features = p->features.columns;
    if (p->sparse.held) core_sparse_set(&p->sparse, &arrays);
    gram_status status = gram_arrays_table(context, &arrays, &table);
    if (status >= 0) status = gram_preparation_apply(context, preparation, table, 0, &prepared);
    if (status >= 0)
        status =
            gram_predictor_evaluate_prepared(context, p->predictor, prepared, p->weights.f64, p->out.f64, p->out.ld);
    gram_prepared_destroy(prepared);
    gram_table_destroy(table);
    return status;
}

static int64_t feature_count(const gram_predictor *predictor, const gram_model *model)
{
    const gram_preparation *preparation = gram_predictor_preparation(predictor);
    if (preparation) return gram_preparation_describe(preparation)->feature_count;
    return gram_points_dimension(gram_function_centres(gram_model_function(model)));
}

static int has_text(const gram_preparation *preparation)
{
    const gram_preparation_description *known = preparation ? gram_preparation_describe(preparation) : NULL;
    for (int64_t j = 0; known && j < known->feature_count; j++)
        if (known->features[j].text) return 1;
    return 0;
}

static int take_places(core_predictor *self, PyObject *x, PyObject *features, PyObject *weights, PyObject *out,
                       places *p)
{
    const int64_t d = feature_count(self->predictor, ((core_model *)self->model)->model);
    *p = (places){.predictor = self->predictor};
    if (PyTuple_Check(x)) {
        if (core_sparse_get(x, "X", &p->sparse) < 0) return -1;
        return core_array_out(out, "out", p->sparse.n, gram_predictor_columns(self->predictor)->ld, &p->out);
    }
    if (core_array_get(x, "X", &p->x) < 0) return -1;
    if (p->x.d != d) {
        PyErr_Format(PyExc_ValueError, "X has %lld features, but the model is expecting %lld features",
                     (long long)p->x.d, (long long)d);
        return -1;
    }
    if (core_columns_get(features, "features", d, &p->features) < 0) return -1;
    if (core_array_get(weights, "weights", &p->weights) < 0) return -1;
    if (p->weights.held && (p->weights.n != p->x.n || p->weights.ld != 1)) {
        PyErr_SetString(PyExc_ValueError, "weights: one number for each row is needed");
        return -1;
    }
    return core_array_out(out, "out", p->x.n, gram_predictor_columns(self->predictor)->ld, &p->out);
}

/* evaluate(run, X, features, weights, out). */
static PyObject *evaluate(PyObject *self, PyObject *arguments)
{
    core_predictor *own_predictor = (core_predictor *)self;
    PyObject *run, *x, *features, *weights, *out;
    places p;
    core_call call;
    gram_status status = GRAM_OK;
    if (!PyArg_ParseTuple(arguments, "OOOOO", &run, &x, &features, &weights, &out)) return NULL;
    const gram_preparation *preparation = gram_predictor_preparation(own_predictor->predictor);
    const int text = has_text(preparation);
    if (take_places(own_predictor, x, features, weights, out, &p) == 0) {
        if (text && !p.features.columns)
            PyErr_SetString(PyExc_ValueError, "the model was fitted on columns of text: give a data frame with them");
        else if (core_begin(&call, run, CORE_ALL_MEMORY) == 0) {
            CORE_RUN(&call, status = p.features.columns || p.sparse.held
                                         ? evaluate_table(call.context, &p, preparation)
                                         : evaluate_numbers(call.context, &p, preparation));
            (void)core_end(&call, status);
        }
    }
    core_array_release(&p.x);
    core_sparse_release(&p.sparse);
    core_array_release(&p.weights);
    core_array_release(&p.out);
    core_columns_free(&p.features);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* ---- Gaussian processes: draws and covariances ---- */

typedef struct process {
    const gram_model *model;
    core_sparse sparse; /* in place of x */
    core_array x, out;
    int observed;
    gram_status (*todo)(gram_context *context, const struct process *p, const gram_points *points);
} process;

/* Rows of numbers as points that the model's kernel takes; `rows` is freed by the caller. */
static gram_status prepared_points(gram_context *context, const process *p, double **rows, gram_points **points)
{
    const gram_preparation *preparation = gram_model_preparation(p->model);
    if (!preparation) return core_points(context, &p->x, points);
    *rows = malloc((size_t)(p->x.n * p->x.d) * sizeof **rows);
    if (!*rows) return GRAM_ERROR_MEMORY;
    gram_preparation_scale(preparation, p->x.n, p->x.f64, p->x.ld, *rows);
    return gram_points_create_f64(context, p->x.n, p->x.d, *rows, p->x.d, points);
}

static gram_status draw_process(gram_context *context, const process *p, const gram_points *points)
{
    gram_sampler *sampler = NULL;
    gram_status status = gram_sampler_of_model(context, p->model, &sampler);
    if (status >= 0)
        status = gram_sampler_draw(context, sampler, points, p->out.d, p->observed, p->out.f64, p->out.ld, NULL);
    gram_sampler_destroy(sampler);
    return status;
}

static gram_status covary(gram_context *context, const process *p, const gram_points *points)
{
    gram_gp_parts parts = {.size = sizeof parts};
    gram_gp *gp = NULL;
    gram_status status = gram_gp_read_parts(context, p->model, &parts);
    if (status >= 0) status = gram_gp_create(context, gram_function_kernel(gram_model_function(p->model)), &parts, &gp);
    if (status >= 0) status = gram_gp_covariance(context, gp, points, NULL, 0, p->out.f64, p->out.ld);
    gram_gp_destroy(gp);
    return status;
}

static gram_status evaluate_function(gram_context *context, const process *p, const gram_points *points)
{
    return gram_function_evaluate(context, gram_model_function(p->model), points, p->out.f64, p->out.ld);
}

/* Sparse rows the way of files: `prepared` holds what the points borrow. */
static gram_status sparse_points(gram_context *context, const process *p, gram_prepared **prepared,
                                 gram_points **points)
{
    gram_arrays arrays;
    gram_table *table = NULL;
    gram_arrays_init(&arrays, sizeof arrays);
    core_sparse_set(&p->sparse, &arrays);
    gram_status status = gram_arrays_table(context, &arrays, &table);
    if (status >= 0) status = gram_preparation_apply(context, gram_model_preparation(p->model), table, 0, prepared);
    if (status >= 0) status = gram_points_of_prepared(context, *prepared, points);
    gram_table_destroy(table);
    return status;
}

static gram_status run_process(gram_context *context, const process *p)
{
    double *rows = NULL;
    gram_prepared *prepared = NULL;
    gram_points *points = NULL;
    gram_status status =
        p->sparse.held ? sparse_points(context, p, &prepared, &points) : prepared_points(context, p, &rows, &points);
    if (status >= 0) status = p->todo(context, p, points);
    gram_points_release(points);
    gram_prepared_destroy(prepared);
    free(rows);
    return status;
}

static int take_process(process *p, PyObject *x, int64_t columns, PyObject *out)
{
    if ((PyTuple_Check(x) ? core_sparse_get(x, "X", &p->sparse) : core_array_get(x, "X", &p->x)) < 0) return -1;
    const int64_t n = p->sparse.held ? p->sparse.n : p->x.n;
    return core_array_out(out, "out", n, columns > 0 ? columns : n, &p->out);
}

/* p has the model and what is to be done; out gets as many columns as are said, 0: one for each row. */
static PyObject *use_process(process *p, PyObject *run, PyObject *x, int64_t columns, PyObject *out)
{
    core_call call;
    gram_status status = GRAM_OK;
    const gram_preparation *preparation = gram_model_preparation(p->model);
    if (take_process(p, x, columns, out) == 0) {
        if (!p->sparse.held &&
            (has_text(preparation) || (preparation && gram_preparation_describe(preparation)->feature_count != p->x.d)))
            PyErr_SetString(PyExc_ValueError, "X: the columns of numbers that the model was fitted on are needed");
        else if (core_begin(&call, run, CORE_FREE_MEMORY) == 0) {
            CORE_RUN(&call, status = run_process(call.context, p));
            (void)core_end(&call, status);
        }
    }
    core_array_release(&p->x);
    core_sparse_release(&p->sparse);
    core_array_release(&p->out);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *draw(PyObject *self, PyObject *arguments)
{
    PyObject *run, *x, *out;
    long long draws = 0;
    process p = {.model = own(self), .todo = draw_process};
    if (!PyArg_ParseTuple(arguments, "OOLpO", &run, &x, &draws, &p.observed, &out)) return NULL;
    if (draws >= 1) return use_process(&p, run, x, draws, out);
    return PyErr_Format(PyExc_ValueError, "%lld draws: at least one is needed", draws);
}

static PyObject *covariance(PyObject *self, PyObject *arguments)
{
    PyObject *run, *x, *out;
    process p = {.model = own(self), .todo = covary};
    if (!PyArg_ParseTuple(arguments, "OOO", &run, &x, &out)) return NULL;
    return use_process(&p, run, x, 0, out);
}

/* Values of the model's function, one column for each of its outputs. */
static PyObject *values_of(PyObject *self, PyObject *arguments)
{
    PyObject *run, *x, *out;
    process p = {.model = own(self), .todo = evaluate_function};
    if (!PyArg_ParseTuple(arguments, "OOO", &run, &x, &out)) return NULL;
    return use_process(&p, run, x, gram_function_outputs(gram_model_function(p.model)), out);
}

/* ---- the types ---- */

static PyMethodDef MODEL_METHODS[] = {
    {"write", write_model, METH_VARARGS, NULL},  {"to_bytes", bytes_of_model, METH_VARARGS, NULL},
    {"describe", describe, METH_VARARGS, NULL},  {"kernel", kernel_of, METH_VARARGS, NULL},
    {"columns", columns_of, METH_VARARGS, NULL}, {"parts", parts_of, METH_VARARGS, NULL},
    {"fact", fact_of, METH_VARARGS, NULL},       {"array", array_of, METH_VARARGS, NULL},
    {"kind", kind_of, METH_NOARGS, NULL},        {"predictor", make_predictor, METH_VARARGS, NULL},
    {"draw", draw, METH_VARARGS, NULL},          {"covariance", covariance, METH_VARARGS, NULL},
    {"values", values_of, METH_VARARGS, NULL},   {NULL, NULL, 0, NULL},
};

static PyMethodDef PREDICTOR_METHODS[] = {
    {"columns", predicted_columns, METH_NOARGS, NULL},
    {"evaluate", evaluate, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot MODEL_SLOTS[] = {{Py_tp_dealloc, forget_model}, {Py_tp_methods, MODEL_METHODS}, {0, NULL}};
static PyType_Slot PREDICTOR_SLOTS[] = {
    {Py_tp_dealloc, forget_predictor}, {Py_tp_methods, PREDICTOR_METHODS}, {0, NULL}};

enum { FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE };
static PyType_Spec MODEL_SPEC = {"gram._core.Model", sizeof(core_model), 0, FLAGS, MODEL_SLOTS};
static PyType_Spec PREDICTOR_SPEC = {"gram._core.Predictor", sizeof(core_predictor), 0, FLAGS, PREDICTOR_SLOTS};

int core_model_ready(PyObject *module)
{
    if (core_add_type(module, &MODEL_SPEC, &model_type) < 0) return -1;
    return core_add_type(module, &PREDICTOR_SPEC, &predictor_type);
}

PyMethodDef core_model_functions[] = {
    {"model_read", read_model, METH_VARARGS, NULL},
    {"model_of_bytes", model_of_bytes, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
