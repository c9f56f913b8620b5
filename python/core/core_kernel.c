/* Kernels: the objects, their algebra, matrices and gradients. */
#include "core.h"

#include <math.h>
#include <string.h>

static PyTypeObject *kernel_type = NULL;

/* ---- objects ---- */

int core_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type)
{
    *type = (PyTypeObject *)PyType_FromSpec(spec);
    return *type ? PyModule_AddType(module, *type) : -1;
}

void *core_new(PyTypeObject *type)
{
    return PyType_GenericAlloc(type, 0);
}

void core_free(void *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    freefunc give = (freefunc)PyType_GetSlot(type, Py_tp_free);
    give(self);
    Py_DECREF(type);
}

PyObject *core_kernel_object(gram_kernel *kernel)
{
    core_kernel *made = core_new(kernel_type);
    if (made)
        made->kernel = kernel;
    else
        gram_kernel_release(kernel);
    return (PyObject *)made;
}

static void forget(PyObject *self)
{
    gram_kernel_release(((core_kernel *)self)->kernel);
    core_free(self);
}

int core_kernel_get(PyObject *object, gram_kernel **kernel)
{
    *kernel = NULL;
    if (object == Py_None) return 0;
    if (!PyObject_TypeCheck(object, kernel_type)) {
        PyErr_SetString(PyExc_TypeError, "a kernel is needed");
        return -1;
    }
    *kernel = ((core_kernel *)object)->kernel;
    return 0;
}

static gram_kernel *own(PyObject *self)
{
    return ((core_kernel *)self)->kernel;
}

/* The result of something quick: the kernel, or the exception. */
static PyObject *finish(gram_context *context, gram_status status, gram_kernel *kernel)
{
    PyObject *made = status < 0 ? core_raise(context, status) : core_kernel_object(kernel);
    gram_context_destroy(context);
    return made;
}

static PyObject *print(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    gram_string text = {0};
    gram_kernel_append(own(self), &text);
    return core_text(&text);
}

static PyObject *show(PyObject *self)
{
    return print(self, NULL);
}

static PyObject *compare(PyObject *a, PyObject *b, int operation)
{
    if ((operation != Py_EQ && operation != Py_NE) || !PyObject_TypeCheck(b, kernel_type)) Py_RETURN_NOTIMPLEMENTED;
    const int same = gram_kernel_equal(own(a), own(b));
    return PyBool_FromLong(operation == Py_EQ ? same : !same);
}

static Py_hash_t hash(PyObject *self)
{
    PyObject *text = print(self, NULL);
    const Py_hash_t made = text ? PyObject_Hash(text) : -1;
    Py_XDECREF(text);
    return made;
}

/* ---- algebra ---- */

static PyObject *parse(PyObject *module, PyObject *arguments)
{
    (void)module;
    const char *text = NULL;
    gram_kernel *kernel = NULL;
    if (!PyArg_ParseTuple(arguments, "s", &text)) return NULL;
    gram_context *context = core_context();
    if (!context) return NULL;
    const gram_status status = gram_kernel_parse(context, text, &kernel);
    return finish(context, status, kernel);
}

static PyObject *constant(PyObject *module, PyObject *arguments)
{
    (void)module;
    double value = 0;
    gram_kernel *kernel = NULL;
    if (!PyArg_ParseTuple(arguments, "d", &value)) return NULL;
    gram_context *context = core_context();
    if (!context) return NULL;
    const gram_status status = gram_kernel_constant(context, value, &kernel);
    return finish(context, status, kernel);
}

static PyObject *join(PyObject *self, PyObject *other,
                      gram_status (*make)(gram_context *, gram_kernel *, gram_kernel *, gram_kernel **))
{
    gram_kernel *b = NULL, *kernel = NULL;
    if (core_kernel_get(other, &b) < 0) return NULL;
    gram_context *context = core_context();
    if (!context) return NULL;
    const gram_status status = make(context, own(self), b, &kernel);
    return finish(context, status, kernel);
}

static PyObject *add(PyObject *self, PyObject *other)
{
    return join(self, other, gram_kernel_sum);
}

static PyObject *multiply(PyObject *self, PyObject *other)
{
    return join(self, other, gram_kernel_multiply);
}

static PyObject *power(PyObject *self, PyObject *arguments)
{
    int m = 0;
    gram_kernel *kernel = NULL;
    if (!PyArg_ParseTuple(arguments, "i", &m)) return NULL;
    gram_context *context = core_context();
    if (!context) return NULL;
    const gram_status status = gram_kernel_power(context, own(self), m, &kernel);
    return finish(context, status, kernel);
}

static PyObject *wrap(PyObject *self, gram_status (*make)(gram_context *, gram_kernel *, gram_kernel **))
{
    gram_kernel *kernel = NULL;
    gram_context *context = core_context();
    if (!context) return NULL;
    const gram_status status = make(context, own(self), &kernel);
    return finish(context, status, kernel);
}

static PyObject *exponential(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return wrap(self, gram_kernel_exp);
}

static PyObject *normalize(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return wrap(self, gram_kernel_normalize);
}

static PyObject *on_columns(PyObject *self, PyObject *columns)
{
    gram_kernel *kernel = NULL;
    int64_t places[4096];
    const Py_ssize_t count = PyTuple_Check(columns) ? PyTuple_Size(columns) : -1;
    if (count < 0 || count > 4096) {
        PyErr_SetString(PyExc_ValueError, "on: a tuple of at most 4096 columns is needed");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        places[i] = PyLong_AsLongLong(PyTuple_GetItem(columns, i));
        if (places[i] == -1 && PyErr_Occurred()) return NULL;
    }
    gram_context *context = core_context();
    if (!context) return NULL;
    const gram_status status = gram_kernel_on(context, count, places, own(self), &kernel);
    return finish(context, status, kernel);
}

static PyObject *warp(PyObject *self, PyObject *matrix)
{
    gram_kernel *kernel = NULL;
    core_array a;
    if (core_array_get(matrix, "warp", &a) < 0) return NULL;
    gram_context *context = core_context();
    PyObject *made = NULL;
    if (context && a.ld != a.d)
        PyErr_SetString(PyExc_ValueError, "warp: a matrix without gaps is needed"), gram_context_destroy(context);
    else if (context) {
        const gram_status status = gram_kernel_warp(context, a.n, a.d, a.f64, own(self), &kernel);
        made = finish(context, status, kernel);
    }
    core_array_release(&a);
    return made;
}

static PyObject *terms(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    const int64_t count = gram_kernel_term_count(own(self));
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < count; i++) {
        PyObject *term = core_kernel_object(gram_kernel_retain(gram_kernel_term(own(self), i)));
        if (!term || PyList_Append(list, term) < 0) Py_CLEAR(list);
        Py_XDECREF(term);
    }
    return list;
}

/* ---- parameters and facts ---- */

static PyObject *parameters(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    gram_context *context = core_context();
    PyObject *list = context ? PyList_New(0) : NULL;
    for (int64_t i = 0; list && i < gram_kernel_parameter_count(own(self)); i++) {
        gram_parameter p;
        const gram_status status = gram_kernel_parameter_get(context, own(self), i, &p);
        PyObject *row = status < 0 ? core_raise(context, status)
                                   : Py_BuildValue("sdddiii", p.name, p.value, p.lower, p.upper,
                                                   p.transform == GRAM_TRANSFORM_LOG, p.set, p.fixed);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    gram_context_destroy(context);
    return list;
}

static PyObject *with_values(PyObject *self, PyObject *values)
{
    gram_kernel *kernel = NULL;
    core_array a;
    PyObject *made = NULL;
    if (core_array_get(values, "values", &a) < 0) return NULL;
    gram_context *context = core_context();
    if (context && (a.n != gram_kernel_parameter_count(own(self)) || a.ld != 1)) {
        PyErr_Format(PyExc_ValueError, "the kernel has %lld parameters, not %lld",
                     (long long)gram_kernel_parameter_count(own(self)), (long long)a.n);
        gram_context_destroy(context);
    } else if (context) {
        const gram_status status = gram_kernel_with_values(context, own(self), a.f64, &kernel);
        made = finish(context, status, kernel);
    }
    core_array_release(&a);
    return made;
}

static PyObject *with_ard(PyObject *self, PyObject *arguments)
{
    long long d = 0;
    gram_kernel *kernel = NULL;
    if (!PyArg_ParseTuple(arguments, "L", &d)) return NULL;
    gram_context *context = core_context();
    if (!context) return NULL;
    const gram_status status = gram_kernel_with_ard(context, own(self), d, &kernel);
    return finish(context, status, kernel);
}

static PyObject *resolve(PyObject *self, PyObject *arguments)
{
    PyObject *run = NULL, *points = NULL;
    core_array x;
    core_call call;
    gram_points *p = NULL;
    gram_kernel *kernel = NULL;
    gram_status status = GRAM_OK;
    if (!PyArg_ParseTuple(arguments, "OO", &run, &points) || core_array_points(points, "X", &x) < 0) return NULL;
    if (core_begin(&call, run, CORE_ALL_MEMORY) == 0) {
        CORE_RUN(&call, {
            status = core_points(call.context, &x, &p);
            if (status >= 0) status = gram_kernel_resolve(call.context, own(self), p, &kernel);
            gram_points_release(p);
        });
        if (core_end(&call, status) < 0) {
            gram_kernel_release(kernel);
            kernel = NULL;
        }
    }
    core_array_release(&x);
    return PyErr_Occurred() ? NULL : core_kernel_object(kernel);
}

/* JSON of what is known of the kernel on d columns: properties, parameters and, if asked for, its words in other tools. */
static PyObject *facts(PyObject *self, PyObject *arguments)
{
    long long d = 0;
    int words = 0;
    gram_string text = {0};
    gram_json json = {.text = &text};
    if (!PyArg_ParseTuple(arguments, "Lp", &d, &words)) return NULL;
    gram_context *context = core_context();
    if (!context) return NULL;
    gram_json_open(&json, NULL, '{');
    gram_status status = words ? gram_kernel_words_json(context, own(self), d, &json)
                               : gram_kernel_json(context, own(self), NULL, d, &json);
    gram_json_close(&json, '{');
    if (status < 0) {
        gram_string_free(&text);
        (void)core_raise(context, status);
    }
    gram_context_destroy(context);
    return status < 0 ? NULL : core_text(&text);
}

static PyObject *least_dimension(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    int64_t d = 0;
    gram_context *context = core_context();
    if (!context) return NULL;
    const gram_status status = gram_kernel_least_dimension(context, own(self), &d);
    PyObject *made = status < 0 ? core_raise(context, status) : PyLong_FromLongLong(d);
    gram_context_destroy(context);
    return made;
}

/* ---- matrices ---- */

/* What all of them take: X, Y or None, a third array or None, and the array to write to. */
typedef struct work {
    const gram_kernel *kernel;
    core_array x, y, v, out;
    gram_points *px, *py;
} work;

typedef gram_status (*job)(gram_context *context, const work *w);

static gram_status run_job(gram_context *context, work *w, job todo)
{
    gram_status status = core_points(context, &w->x, &w->px);
    if (status >= 0 && w->y.held) status = core_points(context, &w->y, &w->py);
    if (status >= 0) status = todo(context, w);
    gram_points_release(w->px);
    gram_points_release(w->py);
    return status;
}

static int64_t columns_of(const work *w)
{
    return w->y.held ? w->y.n : w->x.n;
}

enum { SHORT = 2048 }; /* pairs */

static PyObject *do_work(PyObject *run, work *w, job todo)
{
    core_call call;
    gram_status status = GRAM_OK;
    const int is_short = w->x.n <= SHORT && w->x.n * columns_of(w) <= SHORT;
    if (!PyErr_Occurred() && core_begin(&call, run, is_short ? CORE_SHORT : CORE_ALL_MEMORY) == 0) {
        CORE_RUN(&call, status = run_job(call.context, w, todo));
        (void)core_end(&call, status);
    }
    core_array_release(&w->x);
    core_array_release(&w->y);
    core_array_release(&w->v);
    core_array_release(&w->out);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* (run, X, Y): rows and columns of K are known then. */
static int take_points(PyObject *self, PyObject *x, PyObject *y, work *w)
{
    *w = (work){.kernel = own(self)};
    if (core_array_points(x, "X", &w->x) < 0 || core_array_points(y, "Y", &w->y) < 0) return -1;
    if (w->x.held) return 0;
    PyErr_SetString(PyExc_TypeError, "X is None");
    return -1;
}

static gram_status make_matrix(gram_context *context, const work *w)
{
    return gram_matrix(context, w->kernel, w->px, w->py, w->out.f64, w->out.ld);
}

static gram_status make_distance(gram_context *context, const work *w)
{
    return gram_matrix_distance(context, w->kernel, w->px, w->py, w->out.f64, w->out.ld);
}

static PyObject *square(PyObject *self, PyObject *arguments, job todo)
{
    PyObject *run, *x, *y, *out;
    work w;
    if (!PyArg_ParseTuple(arguments, "OOOO", &run, &x, &y, &out)) return NULL;
    if (take_points(self, x, y, &w) == 0) (void)core_array_out(out, "out", w.x.n, columns_of(&w), &w.out);
    return do_work(run, &w, todo);
}

static PyObject *matrix(PyObject *self, PyObject *arguments)
{
    return square(self, arguments, make_matrix);
}

static PyObject *distance(PyObject *self, PyObject *arguments)
{
    return square(self, arguments, make_distance);
}

static gram_status make_diagonal(gram_context *context, const work *w)
{
    return gram_matrix_diagonal(context, w->kernel, w->px, w->out.f64);
}

static PyObject *diagonal(PyObject *self, PyObject *arguments)
{
    PyObject *run, *x, *out;
    work w;
    if (!PyArg_ParseTuple(arguments, "OOO", &run, &x, &out)) return NULL;
    if (take_points(self, x, Py_None, &w) == 0) (void)core_array_out(out, "out", w.x.n, 1, &w.out);
    return do_work(run, &w, make_diagonal);
}

static gram_status make_product(gram_context *context, const work *w)
{
    return gram_matrix_product(context, w->kernel, w->px, w->py, w->v.d, w->v.f64, w->v.ld, w->out.f64, w->out.ld);
}

static int check_rows(const core_array *array, const char *name, int64_t n)
{
    if (array->n == n) return 0;
    PyErr_Format(PyExc_ValueError, "%s: %lld rows instead of %lld", name, (long long)array->n, (long long)n);
    return -1;
}

static PyObject *product(PyObject *self, PyObject *arguments)
{
    PyObject *run, *x, *y, *v, *out;
    work w;
    if (!PyArg_ParseTuple(arguments, "OOOOO", &run, &x, &y, &v, &out)) return NULL;
    if (take_points(self, x, y, &w) == 0 && core_array_get(v, "V", &w.v) == 0 &&
        check_rows(&w.v, "V", columns_of(&w)) == 0)
        (void)core_array_out(out, "out", w.x.n, w.v.d, &w.out);
    return do_work(run, &w, make_product);
}

static gram_weights weights_of(const work *w)
{
    return (gram_weights){.dense = w->v.f64, .ld = w->v.ld};
}

static gram_status make_parameter_gradient(gram_context *context, const work *w)
{
    const gram_weights weights = weights_of(w);
    return gram_matrix_parameter_gradient(context, w->kernel, w->px, w->py, &weights, w->out.f64);
}

static gram_status make_input_gradient(gram_context *context, const work *w)
{
    const gram_weights weights = weights_of(w);
    return gram_matrix_input_gradient(context, w->kernel, w->px, w->py, &weights, w->out.f64, w->out.ld);
}

static PyObject *gradient(PyObject *self, PyObject *arguments, int by_inputs)
{
    PyObject *run, *x, *y, *v, *out;
    work w;
    if (!PyArg_ParseTuple(arguments, "OOOOO", &run, &x, &y, &v, &out)) return NULL;
    if (take_points(self, x, y, &w) == 0 && core_array_get(v, "W", &w.v) == 0 && check_rows(&w.v, "W", w.x.n) == 0) {
        if (w.v.d != columns_of(&w))
            PyErr_Format(PyExc_ValueError, "W: %lld columns instead of %lld", (long long)w.v.d,
                         (long long)columns_of(&w));
        else if (by_inputs)
            (void)core_array_out(out, "out", w.x.n, w.x.d, &w.out);
        else
            (void)core_array_out(out, "out", gram_kernel_parameter_count(w.kernel), 1, &w.out);
    }
    return do_work(run, &w, by_inputs ? make_input_gradient : make_parameter_gradient);
}

static PyObject *parameter_gradient(PyObject *self, PyObject *arguments)
{
    return gradient(self, arguments, 0);
}

static PyObject *input_gradient(PyObject *self, PyObject *arguments)
{
    return gradient(self, arguments, 1);
}

static gram_status make_derivatives(gram_context *context, const work *w)
{
    const gram_derivatives into = {.ld = w->out.n / w->x.n, .by_x = w->out.f64};
    return gram_matrix_derivatives(context, w->kernel, w->px, w->py, &into);
}

/* dk/dx of all pairs: out is (n m, d). */
static PyObject *derivatives(PyObject *self, PyObject *arguments)
{
    PyObject *run, *x, *y, *out;
    work w;
    if (!PyArg_ParseTuple(arguments, "OOOO", &run, &x, &y, &out)) return NULL;
    if (take_points(self, x, y, &w) == 0) (void)core_array_out(out, "out", w.x.n * columns_of(&w), w.x.d, &w.out);
    return do_work(run, &w, make_derivatives);
}

/* Draws of GP(0, k): out has one column for each. */
static gram_status make_draws(gram_context *context, const work *w)
{
    gram_sampler *sampler = NULL;
    gram_status status = gram_sampler_of_kernel(context, (gram_kernel *)w->kernel, &sampler);
    if (status >= 0) status = gram_sampler_draw(context, sampler, w->px, w->out.d, 0, w->out.f64, w->out.ld, NULL);
    gram_sampler_destroy(sampler);
    return status;
}

static PyObject *draw(PyObject *self, PyObject *arguments)
{
    PyObject *run, *x, *out;
    long long draws = 0;
    work w;
    if (!PyArg_ParseTuple(arguments, "OOLO", &run, &x, &draws, &out)) return NULL;
    if (take_points(self, x, Py_None, &w) == 0) (void)core_array_out(out, "out", w.x.n, draws, &w.out);
    return do_work(run, &w, make_draws);
}

/* ---- a Python function as a kernel ---- */

/* The block's points as rows, for the function. */
static PyObject *rows_of(int64_t d, int64_t count, const double *x, int64_t ldx)
{
    double *place = NULL;
    PyObject *memory = core_memory((size_t)(count * d) * sizeof *x, &place);
    for (int64_t i = 0; memory && i < count; i++)
        for (int64_t l = 0; l < d; l++) place[i * d + l] = x[l * ldx + i];
    return memory;
}

static int copy_block(PyObject *block, int64_t rows, int64_t columns, double *out, int64_t ldo)
{
    core_array a;
    if (core_array_get(block, "the kernel's block", &a) < 0) return -1;
    const int fits = a.n == rows && a.d == columns;
    for (int64_t i = 0; fits && i < rows; i++) memcpy(out + i * ldo, a.f64 + i * a.ld, (size_t)columns * sizeof *out);
    core_array_release(&a);
    return fits ? 0 : -1;
}

/* Any thread. The Python layer's function never raises; if it does all the same, the block is NaN. */
static void call_function(void *user, int64_t d, int64_t rows, const double *x, int64_t ldx, int64_t columns,
                          const double *y, int64_t ldy, double *out, int64_t ldo)
{
    const PyGILState_STATE state = PyGILState_Ensure();
    PyObject *a = rows_of(d, rows, x, ldx), *b = rows_of(d, columns, y, ldy), *block = NULL;
    if (a && b) block = PyObject_CallFunction(user, "OOL", a, b, (long long)d);
    if (!block || copy_block(block, rows, columns, out, ldo) < 0)
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++) out[i * ldo + j] = NAN;
    PyErr_Clear();
    Py_XDECREF(block);
    Py_XDECREF(a);
    Py_XDECREF(b);
    PyGILState_Release(state);
}

static void release_function(void *user)
{
    const PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF((PyObject *)user);
    PyGILState_Release(state);
}

static PyObject *callback(PyObject *module, PyObject *arguments)
{
    (void)module;
    const char *name = NULL;
    PyObject *function = NULL;
    gram_kernel *kernel = NULL;
    if (!PyArg_ParseTuple(arguments, "sO", &name, &function)) return NULL;
    gram_context *context = core_context();
    if (!context) return NULL;
    Py_INCREF(function);
    const gram_status status = gram_kernel_callback(context, name, call_function, function, release_function, &kernel);
    return finish(context, status, kernel);
}

/* A given matrix as a kernel without state. The points are its rows with their number behind: (K_i1, ..., K_in, i) for those
 * of the fit, (k(z, x_1), ..., k(z, x_n), -1) for new ones. Then k(a, b) is the entry of one in the column that is the other. */
static void look_up(void *user, int64_t d, int64_t rows, const double *x, int64_t ldx, int64_t columns, const double *y,
                    int64_t ldy, double *out, int64_t ldo)
{
    (void)user;
    const int64_t n = d - 1;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            const double p = x[n * ldx + i], q = y[n * ldy + j];
            double *cell = &out[i * ldo + j];
            if (q >= 0 && q < (double)n)
                *cell = x[(int64_t)q * ldx + i];
            else if (p >= 0 && p < (double)n)
                *cell = y[(int64_t)p * ldy + j];
            else
                *cell = NAN;
        }
}

static PyObject *precomputed(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    gram_kernel *kernel = NULL;
    gram_context *context = core_context();
    if (!context) return NULL;
    const gram_status status = gram_kernel_callback(context, "precomputed", look_up, NULL, NULL, &kernel);
    return finish(context, status, kernel);
}

/* ---- the type ---- */

static PyMethodDef METHODS[] = {
    {"text", print, METH_NOARGS, NULL},
    {"add", add, METH_O, NULL},
    {"multiply", multiply, METH_O, NULL},
    {"power", power, METH_VARARGS, NULL},
    {"exp", exponential, METH_NOARGS, NULL},
    {"normalize", normalize, METH_NOARGS, NULL},
    {"on", on_columns, METH_O, NULL},
    {"warp", warp, METH_O, NULL},
    {"terms", terms, METH_NOARGS, NULL},
    {"parameters", parameters, METH_NOARGS, NULL},
    {"with_values", with_values, METH_O, NULL},
    {"with_ard", with_ard, METH_VARARGS, NULL},
    {"resolve", resolve, METH_VARARGS, NULL},
    {"facts", facts, METH_VARARGS, NULL},
    {"least_dimension", least_dimension, METH_NOARGS, NULL},
    {"matrix", matrix, METH_VARARGS, NULL},
    {"distance", distance, METH_VARARGS, NULL},
    {"diagonal", diagonal, METH_VARARGS, NULL},
    {"product", product, METH_VARARGS, NULL},
    {"parameter_gradient", parameter_gradient, METH_VARARGS, NULL},
    {"input_gradient", input_gradient, METH_VARARGS, NULL},
    {"derivatives", derivatives, METH_VARARGS, NULL},
    {"draw", draw, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot SLOTS[] = {
    {Py_tp_dealloc, forget}, {Py_tp_repr, show},       {Py_tp_richcompare, compare},
    {Py_tp_hash, hash},      {Py_tp_methods, METHODS}, {0, NULL},
};

static PyType_Spec SPEC = {"gram._core.Kernel", sizeof(core_kernel), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, SLOTS};

int core_kernel_ready(PyObject *module)
{
    return core_add_type(module, &SPEC, &kernel_type);
}

PyMethodDef core_kernel_functions[] = {
    {"kernel_parse", parse, METH_VARARGS, NULL},
    {"kernel_constant", constant, METH_VARARGS, NULL},
    {"kernel_callback", callback, METH_VARARGS, NULL},
    {"kernel_precomputed", precomputed, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
