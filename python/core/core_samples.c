/* Samples: tests of hypotheses, thinning, embeddings, scores of densities. */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- two samples ---- */

typedef struct pair {
    core_array x, y;
    gram_points *px, *py;
    gram_kernel *kernel;
} pair;

static int take_pair(PyObject *kernel, PyObject *x, PyObject *y, pair *p)
{
    *p = (pair){0};
    if (core_kernel_get(kernel, &p->kernel) < 0) return -1;
    return core_array_points(x, "X", &p->x) < 0 || core_array_points(y, "Y", &p->y) < 0 ? -1 : 0;
}

static gram_status make_points(gram_context *context, pair *p)
{
    const gram_status status = core_points(context, &p->x, &p->px);
    return status < 0 ? status : core_points(context, &p->y, &p->py);
}

static void release_pair(pair *p)
{
    gram_points_release(p->px);
    gram_points_release(p->py);
    core_array_release(&p->x);
    core_array_release(&p->y);
}

static gram_status run_mmd(gram_context *context, pair *p, const gram_mmd_options *o, gram_mmd_result *r)
{
    const gram_status status = make_points(context, p);
    return status < 0 ? status : gram_mmd_test(context, p->kernel, p->px, p->py, o, r);
}

static PyObject *mmd_looks(const gram_mmd_result *r)
{
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < r->width_count; i++) {
        PyObject *look = Py_BuildValue("ddi", r->widths[i], r->width_p[i], r->family[i]);
        if (!look || PyList_Append(list, look) < 0) Py_CLEAR(list);
        Py_XDECREF(look);
    }
    return list;
}

static PyObject *mmd_dictionary(const gram_mmd_result *r)
{
    return Py_BuildValue("{s:i,s:N,s:d,s:d,s:N,s:L,s:L,s:d,s:d,s:L,s:N,s:L}", "method", r->used, "kernel",
                         core_kernel_object(gram_kernel_retain(r->kernel)), "statistic", r->statistic, "p_value",
                         r->p_value, "reject", PyBool_FromLong(r->reject), "n", (long long)r->n, "m", (long long)r->m,
                         "null_mean", r->null_mean, "null_deviation", r->null_deviation, "permutations",
                         (long long)r->permutations, "looks", mmd_looks(r), "best", (long long)r->best);
}

/* mmd_test(run, kernel, X, Y, method, biased, level, permutations, block, memory, widths, least, most). */
static PyObject *mmd_test(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *run, *kernel, *x, *y, *made = NULL;
    gram_mmd_options o;
    gram_mmd_result r;
    int method = 0;
    long long permutations = 0, block = 0, widths = 0;
    pair p;
    core_call call;
    gram_status status = GRAM_OK;
    gram_mmd_options_init(&o, sizeof o);
    gram_mmd_result_init(&r, sizeof r);
    if (!PyArg_ParseTuple(arguments, "OOOOipdLLdLdd", &run, &kernel, &x, &y, &method, &o.biased, &o.level,
                          &permutations, &block, &o.memory, &widths, &o.width_least, &o.width_most))
        return NULL;
    o.method = (gram_mmd_method)method;
    o.permutations = permutations;
    o.block = block;
    o.width_count = widths;
    if (take_pair(kernel, x, y, &p) == 0 && core_begin(&call, run, CORE_FREE_MEMORY) == 0) {
        CORE_RUN(&call, status = run_mmd(call.context, &p, &o, &r));
        if (core_end(&call, status) == 0) made = mmd_dictionary(&r);
    }
    gram_mmd_result_clear(&r);
    release_pair(&p);
    return made;
}

/* ---- columns standardised, as the command's tests have them: of two samples together ---- */

static gram_status table_of(gram_context *context, const core_array *x, gram_table **table)
{
    gram_arrays arrays;
    gram_arrays_init(&arrays, sizeof arrays);
    arrays.n = x->n;
    arrays.d = x->d;
    arrays.x = x->f64;
    arrays.ldx = x->ld;
    return gram_arrays_table(context, &arrays, table);
}

static gram_status scale_to(gram_context *context, const gram_preparation *preparation, const gram_table *table,
                            double *out)
{
    gram_prepared *prepared = NULL;
    const gram_status status = gram_preparation_apply(context, preparation, table, 0, &prepared);
    if (status >= 0) memcpy(out, prepared->x, (size_t)(prepared->n * prepared->d) * sizeof *out);
    gram_prepared_destroy(prepared);
    return status;
}

static gram_status scale_samples(gram_context *context, const core_array x[2], int count, double *const out[2])
{
    gram_table *tables[2] = {NULL, NULL};
    gram_preparation *preparation = NULL;
    gram_preparation_options options;
    gram_status status = GRAM_OK;
    gram_preparation_options_init(&options, sizeof options);
    options.target = "";
    for (int i = 0; i < count && status >= 0; i++) status = table_of(context, &x[i], &tables[i]);
    if (status >= 0)
        status = count == 2 ? gram_preparation_learn_both(context, tables[0], tables[1], &options, &preparation)
                            : gram_preparation_learn(context, tables[0], &options, &preparation);
    for (int i = 0; i < count && status >= 0; i++) status = scale_to(context, preparation, tables[i], out[i]);
    gram_preparation_release(preparation);
    gram_table_destroy(tables[0]);
    gram_table_destroy(tables[1]);
    return status;
}

/* standardise(run, X, Y or None): the same rows, scaled, as (memory, n, d) each. */
static PyObject *standardise(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *run, *objects[2], *memory[2] = {NULL, NULL}, *made = NULL;
    core_array x[2];
    double *out[2] = {NULL, NULL};
    core_call call;
    gram_status status = GRAM_OK;
    memset(x, 0, sizeof x);
    if (!PyArg_ParseTuple(arguments, "OOO", &run, &objects[0], &objects[1])) return NULL;
    for (int i = 0; i < 2 && !PyErr_Occurred(); i++)
        if (core_array_get(objects[i], i ? "Y" : "X", &x[i]) == 0)
            memory[i] = core_memory((size_t)(x[i].n * x[i].d) * sizeof(double), &out[i]);
    if (!PyErr_Occurred() && x[1].held && x[1].d != x[0].d)
        PyErr_Format(PyExc_ValueError, "Y has %lld columns, X has %lld", (long long)x[1].d, (long long)x[0].d);
    if (!PyErr_Occurred() && core_begin(&call, run, CORE_ALL_MEMORY) == 0) {
        CORE_RUN(&call, status = scale_samples(call.context, x, x[1].held ? 2 : 1, out));
        if (core_end(&call, status) == 0)
            made = Py_BuildValue("(OLL)(OLL)", memory[0], (long long)x[0].n, (long long)x[0].d, memory[1],
                                 (long long)x[1].n, (long long)x[1].d);
    }
    for (int i = 0; i < 2; i++) {
        Py_XDECREF(memory[i]);
        core_array_release(&x[i]);
    }
    return made;
}

/* ---- independence ---- */

typedef struct variables {
    int count;
    core_array x[GRAM_HSIC_MAX_VARIABLES];
    gram_points *points[GRAM_HSIC_MAX_VARIABLES];
    gram_kernel *kernels[GRAM_HSIC_MAX_VARIABLES];
} variables;

static int take_variables(PyObject *kernels, PyObject *arrays, variables *v)
{
    memset(v, 0, sizeof *v);
    const Py_ssize_t count = PyTuple_Size(arrays);
    if (count < 0 || count > GRAM_HSIC_MAX_VARIABLES || PyTuple_Size(kernels) != count) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "2 to %d variables, and a kernel for each, are needed",
                         GRAM_HSIC_MAX_VARIABLES);
        return -1;
    }
    for (v->count = 0; v->count < count; v->count++) {
        const int i = v->count;
        if (core_kernel_get(PyTuple_GetItem(kernels, i), &v->kernels[i]) < 0) return -1;
        if (core_array_points(PyTuple_GetItem(arrays, i), "X", &v->x[i]) < 0) return -1;
    }
    return 0;
}

static gram_status run_hsic(gram_context *context, variables *v, const gram_hsic_options *o, gram_hsic_result *r)
{
    gram_status status = GRAM_OK;
    for (int i = 0; i < v->count && status >= 0; i++) status = core_points(context, &v->x[i], &v->points[i]);
    return status < 0 ? status
                      : gram_hsic_test(context, v->count, v->kernels, (const gram_points *const *)v->points, o, r);
}

static PyObject *kernel_list(int count, gram_kernel *const *from)
{
    PyObject *kernels = PyList_New(0);
    for (int i = 0; kernels && i < count; i++) {
        PyObject *kernel = core_kernel_object(gram_kernel_retain(from[i]));
        if (!kernel || PyList_Append(kernels, kernel) < 0) Py_CLEAR(kernels);
        Py_XDECREF(kernel);
    }
    return kernels;
}

static PyObject *hsic_dictionary(const gram_hsic_result *r)
{
    return Py_BuildValue("{s:i,s:N,s:d,s:d,s:N,s:L,s:d,s:d}", "method", r->used, "kernels",
                         kernel_list(r->variables, r->kernels), "statistic", r->statistic, "p_value", r->p_value,
                         "reject", PyBool_FromLong(r->reject), "n", (long long)r->n, "null_mean", r->null_mean,
                         "null_deviation", r->null_deviation);
}

static void release_variables(variables *v)
{
    for (int i = 0; i < GRAM_HSIC_MAX_VARIABLES; i++) {
        gram_points_release(v->points[i]);
        core_array_release(&v->x[i]);
    }
}

/* hsic_test(run, kernels, arrays, method, level, permutations). */
static PyObject *hsic_test(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *run, *kernels, *arrays, *made = NULL;
    gram_hsic_options o;
    gram_hsic_result r;
    int method = 0;
    long long permutations = 0;
    variables v;
    core_call call;
    gram_status status = GRAM_OK;
    gram_hsic_options_init(&o, sizeof o);
    gram_hsic_result_init(&r, sizeof r);
    if (!PyArg_ParseTuple(arguments, "OO!O!idL", &run, &PyTuple_Type, &kernels, &PyTuple_Type, &arrays, &method,
                          &o.level, &permutations))
        return NULL;
    o.method = (gram_hsic_method)method;
    o.permutations = permutations;
    if (take_variables(kernels, arrays, &v) == 0 && core_begin(&call, run, CORE_FREE_MEMORY) == 0) {
        CORE_RUN(&call, status = run_hsic(call.context, &v, &o, &r));
        if (core_end(&call, status) == 0) made = hsic_dictionary(&r);
    }
    gram_hsic_result_clear(&r);
    release_variables(&v);
    return made;
}

static gram_status run_given(gram_context *context, variables *v, const gram_hsic_options *o, gram_hsic_given_result *r)
{
    gram_status status = GRAM_OK;
    for (int i = 0; i < v->count && status >= 0; i++) status = core_points(context, &v->x[i], &v->points[i]);
    return status < 0 ? status : gram_hsic_given_test(context, v->kernels, (const gram_points *const *)v->points, o, r);
}

static PyObject *given_dictionary(const gram_hsic_given_result *r)
{
    return Py_BuildValue("{s:N,s:d,s:d,s:N,s:L,s:d,s:d,s:(dd)}", "kernels", kernel_list(3, r->kernels), "statistic",
                         r->statistic, "p_value", r->p_value, "reject", PyBool_FromLong(r->reject), "n",
                         (long long)r->n, "null_mean", r->null_mean, "null_deviation", r->null_deviation, "unexplained",
                         r->unexplained[0], r->unexplained[1]);
}

/* hsic_given_test(run, kernels, arrays, level, permutations): arrays are x, y and the given columns. */
static PyObject *hsic_given_test(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *run, *kernels, *arrays, *made = NULL;
    gram_hsic_options o;
    gram_hsic_given_result r;
    long long permutations = 0;
    variables v;
    core_call call;
    gram_status status = GRAM_OK;
    gram_hsic_options_init(&o, sizeof o);
    gram_hsic_given_result_init(&r, sizeof r);
    if (!PyArg_ParseTuple(arguments, "OO!O!dL", &run, &PyTuple_Type, &kernels, &PyTuple_Type, &arrays, &o.level,
                          &permutations))
        return NULL;
    o.permutations = permutations;
    const int taken = take_variables(kernels, arrays, &v);
    if (taken == 0 && v.count != 3) PyErr_SetString(PyExc_ValueError, "x, y and the given columns are needed");
    if (!PyErr_Occurred() && core_begin(&call, run, CORE_FREE_MEMORY) == 0) {
        CORE_RUN(&call, status = run_given(call.context, &v, &o, &r));
        if (core_end(&call, status) == 0) made = given_dictionary(&r);
    }
    gram_hsic_given_result_clear(&r);
    release_variables(&v);
    return made;
}

/* ---- samples with scores ---- */

typedef struct scored {
    core_array x, scores;
    gram_points *points;
    gram_kernel *kernel; /* one more owner of it */
} scored;

static int take_scored(PyObject *kernel, PyObject *x, PyObject *scores, scored *s)
{
    *s = (scored){0};
    if (core_array_get(x, "X", &s->x) < 0 || core_array_get(scores, "scores", &s->scores) < 0) return -1;
    if (core_kernel_get(kernel, &s->kernel) < 0) return -1;
    if (s->kernel) s->kernel = gram_kernel_retain(s->kernel);
    if (!s->scores.held || (s->scores.n == s->x.n && s->scores.d == s->x.d)) return 0;
    PyErr_SetString(PyExc_ValueError, "scores: the shape of X is needed");
    return -1;
}

static void release_scored(scored *s)
{
    gram_points_release(s->points);
    gram_kernel_release(s->kernel);
    core_array_release(&s->x);
    core_array_release(&s->scores);
}

/* Points, and the kernel without open numbers: as given, imq by the metric for scores, or laplace as the command has it. */
static gram_status prepare_scored(gram_context *context, scored *s, gram_stein_metric metric, int64_t m)
{
    gram_kernel *given = s->kernel, *complete = NULL;
    gram_status status = core_points(context, &s->x, &s->points);
    if (status < 0) return status;
    if (!given && s->scores.held) return gram_stein_kernel(context, s->points, metric, m, &s->kernel);
    if (!given) status = gram_kernel_parse(context, "laplace", &given);
    if (status >= 0) status = gram_kernel_resolve(context, given, s->points, &complete);
    gram_kernel_release(given);
    s->kernel = complete;
    return status;
}

/* Instead of a metric: many kernels at once. */
enum { MANY_LOOKS = -1 };

static gram_status run_stein(gram_context *context, scored *s, gram_stein_metric metric,
                             const gram_stein_test_options *o, gram_stein_test_result *r)
{
    const int many = !s->kernel && (int)metric == MANY_LOOKS;
    gram_kernel *looks[GRAM_STEIN_LOOKS] = {NULL};
    gram_status status = prepare_scored(context, s, many ? GRAM_STEIN_METRIC_MED : metric, s->x.n);
    if (status >= 0 && many) status = gram_stein_test_kernels(context, s->points, looks);
    if (status >= 0)
        status = gram_stein_test_many(context, many ? GRAM_STEIN_LOOKS : 1, many ? looks : &s->kernel, s->points,
                                      s->scores.f64, s->scores.ld, o, r);
    if (status >= 0 && many) {
        gram_kernel_release(s->kernel);
        s->kernel = gram_kernel_retain(looks[r->best]);
    }
    for (int k = 0; k < GRAM_STEIN_LOOKS; k++) gram_kernel_release(looks[k]);
    return status;
}

/* ksd_test(run, kernel, metric, X, scores, level, draws, flip). */
static PyObject *ksd_test(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *run, *kernel, *x, *scores, *made = NULL;
    int metric = 0;
    long long draws = 0;
    gram_stein_test_options o;
    gram_stein_test_result r = {.size = sizeof r};
    scored s;
    core_call call;
    gram_status status = GRAM_OK;
    gram_stein_test_options_init(&o, sizeof o);
    if (!PyArg_ParseTuple(arguments, "OOiOOdLd", &run, &kernel, &metric, &x, &scores, &o.level, &draws, &o.flip))
        return NULL;
    o.draws = draws;
    if (take_scored(kernel, x, scores, &s) == 0 && core_begin(&call, run, CORE_FREE_MEMORY) == 0) {
        CORE_RUN(&call, status = run_stein(call.context, &s, (gram_stein_metric)metric, &o, &r));
        if (core_end(&call, status) == 0)
            made = Py_BuildValue("{s:N,s:d,s:d,s:d,s:d,s:d,s:N,s:L,s:d}", "kernel",
                                 core_kernel_object(gram_kernel_retain(s.kernel)), "statistic", r.statistic.u_statistic,
                                 "v_statistic", r.statistic.v_statistic, "discrepancy", r.statistic.discrepancy,
                                 "p_value", r.p_value, "threshold", r.threshold, "reject", PyBool_FromLong(r.reject),
                                 "n", (long long)s.x.n, "flip", r.flip);
    }
    release_scored(&s);
    return made;
}

typedef struct choice {
    int64_t m, *index;
    double *discrepancy, *weights, weighted;
    const char *density; /* the text of one, or NULL */
} choice;

/* log p at the points and the positive parts of its second derivatives there, into n numbers each. */
static gram_status know_density(gram_context *context, const char *text, const gram_points *points, double *log_density,
                                double *laplacian)
{
    const int64_t n = gram_points_count(points), d = gram_points_dimension(points);
    gram_density *density = NULL;
    double *second = malloc((size_t)(n * d) * sizeof *second);
    gram_status status = second ? gram_density_parse(context, text, d, &density) : GRAM_ERROR_MEMORY;
    if (status >= 0) status = gram_density_log(context, density, points, log_density);
    if (status >= 0) status = gram_density_second(context, density, points, second, d);
    for (int64_t i = 0; i < n && status >= 0; i++) {
        laplacian[i] = 0;
        for (int64_t l = 0; l < d; l++) laplacian[i] += fmax(second[i * d + l], 0);
    }
    gram_density_destroy(density);
    free(second);
    return status;
}

static gram_status run_thin(gram_context *context, scored *s, gram_stein_metric metric, gram_thin_options *o, choice *c)
{
    double *known = c->density ? malloc((size_t)s->x.n * 2 * sizeof *known) : NULL;
    gram_status status = c->density && !known ? GRAM_ERROR_MEMORY : prepare_scored(context, s, metric, c->m);
    if (status >= 0 && known) {
        o->log_density = known;
        o->laplacian = known + s->x.n;
        status = know_density(context, c->density, s->points, known, known + s->x.n);
    }
    if (status >= 0)
        status =
            gram_thin(context, s->kernel, s->points, s->scores.f64, s->scores.ld, o, c->m, c->index, c->discrepancy);
    if (status >= 0 && c->weights)
        status = known
                     ? gram_thin_density_weights(context, s->kernel, s->points, s->scores.f64, s->scores.ld,
                                                 o->log_density, o->laplacian, c->m, c->index, c->weights, &c->weighted)
                     : gram_thin_weights(context, s->kernel, s->points, s->scores.f64, s->scores.ld, c->m, c->index,
                                         c->weights, &c->weighted);
    free(known);
    return status;
}

/* thin(run, kernel, metric, X, scores, method, distinct, m, weights, density or None): indices and so on as bytearrays. */
static PyObject *thin(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *run, *kernel, *x, *scores, *made = NULL;
    int metric = 0, method = 0, weighted = 0;
    long long m = 0;
    gram_thin_options o;
    scored s;
    core_call call;
    gram_status status = GRAM_OK;
    gram_thin_options_init(&o, sizeof o);
    const char *density = NULL;
    if (!PyArg_ParseTuple(arguments, "OOiOOipLpz", &run, &kernel, &metric, &x, &scores, &method, &o.distinct, &m,
                          &weighted, &density))
        return NULL;
    o.method = (gram_thin_method)method;
    if (take_scored(kernel, x, scores, &s) == 0 && (m < 1 || m > s.x.n))
        PyErr_Format(PyExc_ValueError, "m = %lld is not a number from 1 to the %lld rows", m, (long long)s.x.n);
    choice c = {.m = m, .weighted = NAN, .density = density};
    PyObject *index = NULL, *discrepancy = NULL, *weights = NULL;
    if (!PyErr_Occurred()) {
        index = core_memory((size_t)m * sizeof *c.index, &c.index);
        discrepancy = core_memory((size_t)m * sizeof *c.discrepancy, &c.discrepancy);
        weights = core_memory((size_t)m * sizeof *c.weights, &c.weights);
    }
    if (!weighted) c.weights = NULL;
    if (index && discrepancy && weights && core_begin(&call, run, CORE_FREE_MEMORY) == 0) {
        CORE_RUN(&call, status = run_thin(call.context, &s, (gram_stein_metric)metric, &o, &c));
        if (core_end(&call, status) == 0)
            made = Py_BuildValue("NOOOd", core_kernel_object(gram_kernel_retain(s.kernel)), index, discrepancy,
                                 weighted ? weights : Py_None, c.weighted);
    }
    Py_XDECREF(index);
    Py_XDECREF(discrepancy);
    Py_XDECREF(weights);
    release_scored(&s);
    return made;
}

/* ---- embeddings ---- */

static gram_status run_witness(gram_context *context, pair *p, const core_array *at, const core_array *out)
{
    gram_function *witness = NULL;
    gram_points *places = NULL;
    gram_status status = make_points(context, p);
    if (status >= 0) status = gram_mmd_witness(context, p->kernel, p->px, p->py, &witness);
    if (status >= 0) status = core_points(context, at, &places);
    if (status >= 0) status = gram_function_evaluate(context, witness, places, out->f64, out->ld);
    gram_points_release(places);
    gram_function_release(witness);
    return status;
}

/* witness(run, kernel, X, Y, at, out). */
static PyObject *witness(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *run, *kernel, *x, *y, *at_object, *out_object;
    pair p;
    core_array at = {0}, out = {0};
    core_call call;
    gram_status status = GRAM_OK;
    if (!PyArg_ParseTuple(arguments, "OOOOOO", &run, &kernel, &x, &y, &at_object, &out_object)) return NULL;
    if (take_pair(kernel, x, y, &p) == 0 && core_array_points(at_object, "at", &at) == 0 &&
        core_array_out(out_object, "out", at.n, 1, &out) == 0 && core_begin(&call, run, CORE_ALL_MEMORY) == 0) {
        CORE_RUN(&call, status = run_witness(call.context, &p, &at, &out));
        (void)core_end(&call, status);
    }
    release_pair(&p);
    core_array_release(&at);
    core_array_release(&out);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static gram_status run_scores(gram_context *context, const char *text, const core_array *x, const core_array *out)
{
    gram_points *points = NULL;
    gram_density *density = NULL;
    gram_status status = core_points(context, x, &points);
    if (status >= 0) status = gram_density_parse(context, text, x->d, &density);
    if (status >= 0) status = gram_density_score(context, density, points, out->f64, out->ld);
    gram_density_destroy(density);
    gram_points_release(points);
    return status;
}

/* density_scores(run, text, X, out). */
static PyObject *density_scores(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *run, *x_object, *out_object;
    const char *text = NULL;
    core_array x = {0}, out = {0};
    core_call call;
    gram_status status = GRAM_OK;
    if (!PyArg_ParseTuple(arguments, "OsOO", &run, &text, &x_object, &out_object)) return NULL;
    if (core_array_get(x_object, "X", &x) == 0 && core_array_out(out_object, "out", x.n, x.d, &out) == 0 &&
        core_begin(&call, run, CORE_ALL_MEMORY) == 0) {
        CORE_RUN(&call, status = run_scores(call.context, text, &x, &out));
        (void)core_end(&call, status);
    }
    core_array_release(&x);
    core_array_release(&out);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* ---- conditional embeddings: an object that keeps its factor ---- */

typedef struct core_conditional {
    PyObject_HEAD gram_conditional *conditional;
    gram_points *points;
    core_array x; /* the points are of it */
} core_conditional;

static PyTypeObject *conditional_type = NULL;

static void forget_conditional(PyObject *self)
{
    core_conditional *own = (core_conditional *)self;
    gram_conditional_destroy(own->conditional);
    gram_points_release(own->points);
    core_array_release(&own->x);
    core_free(self);
}

/* conditional(run, kernel, X, lam). */
static PyObject *make_conditional(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *run, *kernel_object, *x;
    gram_kernel *kernel = NULL;
    double lambda = 0;
    core_call call;
    gram_status status = GRAM_OK;
    if (!PyArg_ParseTuple(arguments, "OOOd", &run, &kernel_object, &x, &lambda) ||
        core_kernel_get(kernel_object, &kernel) < 0)
        return NULL;
    core_conditional *made = core_new(conditional_type);
    if (!made) return NULL;
    if (core_array_get(x, "X", &made->x) == 0 && core_begin(&call, run, CORE_FREE_MEMORY) == 0) {
        CORE_RUN(&call, {
            status = core_points(call.context, &made->x, &made->points);
            if (status >= 0)
                status = gram_conditional_create(call.context, kernel, made->points, lambda, &made->conditional);
        });
        (void)core_end(&call, status);
    }
    if (!PyErr_Occurred()) return (PyObject *)made;
    Py_DECREF((PyObject *)made);
    return NULL;
}

static gram_status run_conditional(gram_context *context, const core_conditional *own, const core_array *g,
                                   const core_array *z, const core_array *out)
{
    gram_points *places = NULL;
    gram_status status = core_points(context, z, &places);
    if (status >= 0)
        status =
            g->held ? gram_conditional_expect(context, own->conditional, g->d, g->f64, g->ld, places, out->f64, out->ld)
                    : gram_conditional_weights(context, own->conditional, places, out->f64, out->ld);
    gram_points_release(places);
    return status;
}

/* evaluate(run, g or None, Z, out): expectations of the columns of g, or the weights. */
static PyObject *evaluate_conditional(PyObject *self, PyObject *arguments)
{
    core_conditional *own = (core_conditional *)self;
    PyObject *run, *g_object, *z_object, *out_object;
    core_array g = {0}, z = {0}, out = {0};
    core_call call;
    gram_status status = GRAM_OK;
    if (!PyArg_ParseTuple(arguments, "OOOO", &run, &g_object, &z_object, &out_object)) return NULL;
    if (core_array_get(g_object, "g", &g) == 0 && core_array_get(z_object, "Z", &z) == 0) {
        if (g.held && g.n != own->x.n)
            PyErr_Format(PyExc_ValueError, "g has %lld rows, X has %lld", (long long)g.n, (long long)own->x.n);
        else if (core_array_out(out_object, "out", z.n, g.held ? g.d : own->x.n, &out) == 0 &&
                 core_begin(&call, run, CORE_ALL_MEMORY) == 0) {
            CORE_RUN(&call, status = run_conditional(call.context, own, &g, &z, &out));
            (void)core_end(&call, status);
        }
    }
    core_array_release(&g);
    core_array_release(&z);
    core_array_release(&out);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef CONDITIONAL_METHODS[] = {
    {"evaluate", evaluate_conditional, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot CONDITIONAL_SLOTS[] = {
    {Py_tp_dealloc, forget_conditional}, {Py_tp_methods, CONDITIONAL_METHODS}, {0, NULL}};
static PyType_Spec CONDITIONAL_SPEC = {
    "gram._core.Conditional", sizeof(core_conditional), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, CONDITIONAL_SLOTS};

int core_conditional_ready(PyObject *module)
{
    return core_add_type(module, &CONDITIONAL_SPEC, &conditional_type);
}

PyMethodDef core_sample_functions[] = {
    {"mmd_test", mmd_test, METH_VARARGS, NULL},
    {"standardise", standardise, METH_VARARGS, NULL},
    {"hsic_test", hsic_test, METH_VARARGS, NULL},
    {"hsic_given_test", hsic_given_test, METH_VARARGS, NULL},
    {"ksd_test", ksd_test, METH_VARARGS, NULL},
    {"thin", thin, METH_VARARGS, NULL},
    {"witness", witness, METH_VARARGS, NULL},
    {"density_scores", density_scores, METH_VARARGS, NULL},
    {"conditional", make_conditional, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
