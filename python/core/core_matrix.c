/* Matrices of kernels and what is made of them: diagonals, distances, products, gradients, draws. */
#include "core.h"

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
    *w = (work){.kernel = ((core_kernel *)self)->kernel};
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

PyObject *core_kernel_matrix(PyObject *self, PyObject *arguments)
{
    return square(self, arguments, make_matrix);
}

PyObject *core_kernel_distance(PyObject *self, PyObject *arguments)
{
    return square(self, arguments, make_distance);
}

static gram_status make_diagonal(gram_context *context, const work *w)
{
    return gram_matrix_diagonal(context, w->kernel, w->px, w->out.f64);
}

PyObject *core_kernel_diagonal(PyObject *self, PyObject *arguments)
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

PyObject *core_kernel_product(PyObject *self, PyObject *arguments)
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

PyObject *core_kernel_parameter_gradient(PyObject *self, PyObject *arguments)
{
    return gradient(self, arguments, 0);
}

PyObject *core_kernel_input_gradient(PyObject *self, PyObject *arguments)
{
    return gradient(self, arguments, 1);
}

static gram_status make_derivatives(gram_context *context, const work *w)
{
    const gram_derivatives into = {.ld = w->out.n / w->x.n, .by_x = w->out.f64};
    return gram_matrix_derivatives(context, w->kernel, w->px, w->py, &into);
}

/* dk/dx of all pairs: out is (n m, d). */
PyObject *core_kernel_derivatives(PyObject *self, PyObject *arguments)
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

PyObject *core_kernel_draw(PyObject *self, PyObject *arguments)
{
    PyObject *run, *x, *out;
    long long draws = 0;
    work w;
    if (!PyArg_ParseTuple(arguments, "OOLO", &run, &x, &draws, &out)) return NULL;
    if (take_points(self, x, Py_None, &w) == 0) (void)core_array_out(out, "out", w.x.n, draws, &w.out);
    return do_work(run, &w, make_draws);
}
