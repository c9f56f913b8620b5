/* Sparse rows by the buffer protocol: a tuple (start, index, value, d) of scipy's CSR arrays, borrowed like others. */
#include "core.h"

#include <string.h>

/* An array of one dimension without gaps, of the type that struct's letters say. */
static int take(PyObject *object, const char *name, const char *formats, Py_ssize_t item, Py_buffer *view)
{
    if (PyObject_GetBuffer(object, view, PyBUF_ND | PyBUF_FORMAT) < 0) return -1;
    const char *format = view->format ? view->format : "B";
    if (view->ndim == 1 && view->itemsize == item && strlen(format) == 1 && strchr(formats, format[0])) return 0;
    PyBuffer_Release(view);
    PyErr_Format(PyExc_ValueError, "%s: an array of sparse rows cannot be of type '%s'", name, format);
    return -1;
}

int core_sparse_get(PyObject *object, const char *name, core_sparse *sparse)
{
    PyObject *start, *index, *value;
    long long d;
    *sparse = (core_sparse){0};
    if (!PyArg_ParseTuple(object, "OOOL", &start, &index, &value, &d)) return -1;
    if (take(start, name, "lq", 8, &sparse->views[0]) < 0) return -1;
    sparse->held = 1;
    if (take(index, name, "il", 4, &sparse->views[1]) < 0) return -1;
    sparse->held = 2;
    if (take(value, name, "d", 8, &sparse->views[2]) < 0) return -1;
    sparse->held = 3;
    sparse->start = sparse->views[0].buf;
    sparse->index = sparse->views[1].buf;
    sparse->value = sparse->views[2].buf;
    sparse->n = sparse->views[0].shape[0] - 1;
    sparse->d = d;
    const int64_t count = sparse->views[1].shape[0];
    if (sparse->n >= 1 && sparse->views[2].shape[0] == count && sparse->start[sparse->n] == count) return 0;
    PyErr_Format(PyExc_ValueError, "%s: the arrays of sparse rows do not fit each other", name);
    return -1;
}

void core_sparse_release(core_sparse *sparse)
{
    for (int i = 0; i < sparse->held; i++) PyBuffer_Release(&sparse->views[i]);
    *sparse = (core_sparse){0};
}

void core_sparse_set(const core_sparse *sparse, gram_arrays *arrays)
{
    arrays->n = sparse->n;
    arrays->d = sparse->d;
    arrays->sparse_start = sparse->start;
    arrays->sparse_index = sparse->index;
    arrays->sparse_value = sparse->value;
}
