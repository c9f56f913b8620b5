/* Arrays by the buffer protocol: borrowed while a call lasts, never copied. */
#include "core.h"

#include <string.h>

static int refuse(core_array *array, const char *name, const char *what)
{
    PyErr_Format(PyExc_ValueError, "%s: %s", name, what);
    core_array_release(array);
    return -1;
}

/* Rows lie a whole number of numbers apart, and a row has no gaps. */
static int take_shape(core_array *array, const char *name)
{
    const Py_buffer *view = &array->view;
    const Py_ssize_t item = view->itemsize;
    if (view->ndim < 1 || view->ndim > 2) return refuse(array, name, "an array of one or two dimensions is needed");
    array->n = view->shape[0];
    array->d = view->ndim == 2 ? view->shape[1] : 1;
    array->ld = array->d;
    if (array->n == 0 || array->d == 0) return 0;
    if (view->ndim == 2 && array->d > 1 && view->strides[1] != item)
        return refuse(array, name, "the numbers of a row must lie side by side");
    if (array->n == 1) return 0;
    if (view->strides[0] % item != 0 || view->strides[0] < array->d * item)
        return refuse(array, name, "rows must follow each other in memory");
    array->ld = view->strides[0] / item;
    return 0;
}

static int get(PyObject *object, const char *name, int flags, int f32, core_array *array)
{
    *array = (core_array){0};
    if (object == Py_None) return 0;
    if (PyObject_GetBuffer(object, &array->view, flags | PyBUF_STRIDES | PyBUF_FORMAT) < 0) return -1;
    array->held = 1;
    const char *format = array->view.format ? array->view.format : "B";
    if (strcmp(format, "d") == 0)
        array->f64 = array->view.buf;
    else if (f32 && strcmp(format, "f") == 0)
        array->f32 = array->view.buf;
    else
        return refuse(array, name, "an array of float64 is needed");
    return take_shape(array, name);
}

int core_array_get(PyObject *object, const char *name, core_array *array)
{
    return get(object, name, 0, 0, array);
}

/* (rows, start) or (rows, start, weights): float64 rows without gaps, int64 places where bags begin, and the end, and float64 weights of the rows. */
static int get_bags(PyObject *object, const char *name, core_array *array)
{
    if (get(PyTuple_GetItem(object, 0), name, 0, 0, array) < 0) return -1;
    if (PyObject_GetBuffer(PyTuple_GetItem(object, 1), &array->starts, PyBUF_CONTIG_RO | PyBUF_FORMAT) < 0) {
        core_array_release(array);
        return -1;
    }
    array->start = array->starts.buf;
    const Py_ssize_t count = array->starts.len / (Py_ssize_t)sizeof *array->start;
    if (array->starts.itemsize != sizeof *array->start || count < 2 || array->ld != array->d ||
        array->start[count - 1] != array->n)
        return refuse(array, name, "bags are float64 rows without gaps and int64 places");
    const Py_ssize_t rows = array->n;
    array->n = count - 1;
    if (PyTuple_Size(object) == 2) return 0;
    if (PyObject_GetBuffer(PyTuple_GetItem(object, 2), &array->weighing, PyBUF_CONTIG_RO | PyBUF_FORMAT) < 0) {
        core_array_release(array);
        return -1;
    }
    array->weights = array->weighing.buf;
    if (strcmp(array->weighing.format, "d") != 0 || array->weighing.len != rows * (Py_ssize_t)sizeof *array->weights)
        return refuse(array, name, "weights are a float64 for each row of the bags");
    return 0;
}

int core_array_points(PyObject *object, const char *name, core_array *array)
{
    if (PyTuple_Check(object) && PyTuple_Size(object) >= 2 && PyTuple_Size(object) <= 3)
        return get_bags(object, name, array);
    return get(object, name, 0, 1, array);
}

int core_array_out(PyObject *object, const char *name, int64_t n, int64_t d, core_array *array)
{
    if (get(object, name, PyBUF_WRITABLE, 0, array) < 0) return -1;
    if (array->n == n && array->d == d) return 0;
    PyErr_Format(PyExc_ValueError, "%s: the shape is (%lld, %lld) instead of (%lld, %lld)", name, (long long)array->n,
                 (long long)array->d, (long long)n, (long long)d);
    core_array_release(array);
    return -1;
}

void core_array_release(core_array *array)
{
    if (array->held) PyBuffer_Release(&array->view);
    if (array->start) PyBuffer_Release(&array->starts);
    if (array->weights) PyBuffer_Release(&array->weighing);
    *array = (core_array){0};
}

gram_status core_points(gram_context *context, const core_array *array, gram_points **points)
{
    *points = NULL;
    if (array->start)
        return gram_points_create_weighted_bags(context, array->n, array->d, array->start, array->f64, array->weights,
                                                points);
    if (array->f32) return gram_points_create_f32(context, array->n, array->d, array->f32, array->ld, points);
    return gram_points_create_f64(context, array->n, array->d, array->f64, array->ld, points);
}

/* ---- results ---- */

PyObject *core_memory(size_t bytes, void *place)
{
    PyObject *memory = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)bytes);
    if (memory) *(void **)place = PyByteArray_AsString(memory);
    return memory;
}

PyObject *core_numbers(const double *data, int64_t n, int64_t d)
{
    double *place = NULL;
    const size_t bytes = (size_t)n * (size_t)d * sizeof *data;
    PyObject *memory = core_memory(bytes, &place);
    if (!memory) return NULL;
    if (bytes > 0) memcpy(place, data, bytes);
    return Py_BuildValue("NLL", memory, (long long)n, (long long)d);
}

PyObject *core_text(gram_string *text)
{
    PyObject *made = text->failed
                         ? PyErr_NoMemory()
                         : PyUnicode_DecodeUTF8(text->data ? text->data : "", (Py_ssize_t)text->length, "replace");
    gram_string_free(text);
    return made;
}

/* ---- columns ---- */

static const char *text_of(PyObject *object)
{
    return PyUnicode_AsUTF8AndSize(object, NULL);
}

static int count_levels(PyObject *object, int64_t count, int64_t *levels)
{
    *levels = 0;
    for (int64_t j = 0; j < count; j++) {
        PyObject *column = PyTuple_GetItem(object, j), *own = NULL, *name = NULL;
        if (!column || !PyArg_ParseTuple(column, "OO", &name, &own)) return -1;
        if (own == Py_None) continue;
        if (!PyTuple_Check(own)) {
            PyErr_SetString(PyExc_TypeError, "levels must be a tuple of texts");
            return -1;
        }
        *levels += PyTuple_Size(own);
    }
    return 0;
}

static int fill_column(PyObject *object, gram_column *column, const char **levels)
{
    PyObject *name = NULL, *own = NULL;
    if (!PyArg_ParseTuple(object, "OO", &name, &own)) return -1;
    *column = (gram_column){.name = NULL, .deviation = 1};
    if (name != Py_None && !(column->name = text_of(name))) return -1;
    if (own == Py_None) return 0;
    column->text = 1;
    column->level_count = PyTuple_Size(own);
    column->levels = levels;
    for (int64_t k = 0; k < column->level_count; k++)
        if (!(levels[k] = text_of(PyTuple_GetItem(own, k)))) return -1;
    return 0;
}

int core_columns_get(PyObject *object, const char *name, int64_t count, core_columns *columns)
{
    int64_t levels = 0, at = 0;
    *columns = (core_columns){0};
    if (object == Py_None) return 0;
    if (!PyTuple_Check(object) || PyTuple_Size(object) != count) {
        PyErr_Format(PyExc_ValueError, "%s: a tuple of %lld columns is needed", name, (long long)count);
        return -1;
    }
    if (count_levels(object, count, &levels) < 0) return -1;
    columns->columns = PyMem_Calloc((size_t)count + 1, sizeof *columns->columns);
    columns->levels = PyMem_Calloc((size_t)levels + 1, sizeof *columns->levels);
    if (!columns->columns || !columns->levels) {
        core_columns_free(columns);
        PyErr_NoMemory();
        return -1;
    }
    for (int64_t j = 0; j < count; j++) {
        if (fill_column(PyTuple_GetItem(object, j), &columns->columns[j], columns->levels + at) < 0) {
            core_columns_free(columns);
            return -1;
        }
        at += columns->columns[j].level_count;
    }
    return 0;
}

void core_columns_free(core_columns *columns)
{
    PyMem_Free(columns->columns);
    PyMem_Free((void *)columns->levels);
    *columns = (core_columns){0};
}

PyObject *core_path(PyObject *path, const char **bytes)
{
    PyObject *encoded = NULL;
    if (!PyUnicode_FSConverter(path, &encoded)) return NULL;
    *bytes = PyBytes_AsString(encoded);
    return encoded;
}
