/* Kernels that are not of the table: a function of Python, and a matrix that is given. */
#include "core.h"

#include <math.h>
#include <string.h>

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

PyObject *core_kernel_of_function(PyObject *module, PyObject *arguments)
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
    return core_kernel_finish(context, status, kernel);
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

PyObject *core_kernel_of_matrix(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    gram_kernel *kernel = NULL;
    gram_context *context = core_context();
    if (!context) return NULL;
    const gram_status status = gram_kernel_callback(context, "precomputed", look_up, NULL, NULL, &kernel);
    return core_kernel_finish(context, status, kernel);
}
