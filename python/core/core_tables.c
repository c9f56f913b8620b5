/* What there is: the table of methods with their options, the kernels; and tables read from files. */
#include "core.h"

#include <string.h>

/* ---- methods ---- */

static PyObject *choices_of(int64_t method, int64_t option)
{
    PyObject *list = PyList_New(0);
    const char *word = NULL;
    for (int64_t k = 0; list && (word = gram_method_choice(method, option, k)); k++) {
        PyObject *text = PyUnicode_FromString(word);
        if (!text || PyList_Append(list, text) < 0) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static const char *kind_name(gram_option_kind kind)
{
    static const char *const names[] = {"switch", "text", "integer", "number", "choice"};
    return names[kind];
}

static PyObject *option_of(int64_t method, int64_t option)
{
    gram_option_facts f = {.size = sizeof f};
    (void)gram_method_option(method, option, &f);
    return Py_BuildValue("{s:s,s:s,s:z,s:z,s:z,s:z,s:z,s:I,s:N}", "name", f.name, "kind", kind_name(f.kind), "argument",
                         f.argument, "help", f.help, "help_no", f.help_no, "default", f.otherwise, "elsewhere",
                         f.elsewhere, "tasks", f.tasks, "choices", choices_of(method, option));
}

static PyObject *options_of(int64_t method, int64_t count)
{
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < count; i++) {
        PyObject *option = option_of(method, i);
        if (!option || PyList_Append(list, option) < 0) Py_CLEAR(list);
        Py_XDECREF(option);
    }
    return list;
}

/* The estimators' names by task: {"regression": "KernelRidge", ...}. */
static PyObject *names_of(const gram_method_facts *f)
{
    PyObject *names = PyDict_New();
    for (int task = 1; names && task < GRAM_TASK_COUNT; task++) {
        if (!f->python[task]) continue;
        PyObject *name = PyUnicode_FromString(f->python[task]);
        if (!name || PyDict_SetItemString(names, gram_task_name((gram_task)task), name) < 0) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

static PyObject *method_of(int64_t method)
{
    gram_method_facts f = {.size = sizeof f};
    (void)gram_method_describe(method, &f);
    return Py_BuildValue("{s:s,s:s,s:z,s:z,s:N,s:N,s:(zz),s:z,s:i,s:i,s:i,s:z,s:s,s:i,s:i,s:z}", "name", f.name,
                         "title", f.title, "variant", f.variant, "kernel", f.kernel, "python", names_of(&f), "options",
                         options_of(method, f.options), "views", f.views[0], f.views[1], "refuses", f.refuses,
                         "unscaled", f.unscaled, "reconstructs", f.reconstructs, "intervals", f.intervals, "about",
                         f.verb ? f.verb->about : NULL, "kept", f.kept, "leaves_out", f.knows_rows, "quadrature",
                         f.quadrature, "formula", f.formula);
}

static PyObject *methods(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < gram_method_count(); i++) {
        PyObject *method = method_of(i);
        if (!method || PyList_Append(list, method) < 0) Py_CLEAR(list);
        Py_XDECREF(method);
    }
    return list;
}

/* ---- kernels ---- */

static PyObject *kernels(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    char signature[256];
    PyObject *list = PyList_New(0);
    for (int i = 0; list && gram_kernel_name(i); i++) {
        (void)gram_kernel_signature(i, signature, sizeof signature);
        PyObject *row = Py_BuildValue("sss", gram_kernel_name(i), gram_kernel_formula(i), signature);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* ---- tables ---- */

static PyObject *levels_of(const gram_table *table, int64_t column)
{
    const int64_t count = gram_table_level_count(table, column);
    if (count == 0) Py_RETURN_NONE;
    PyObject *list = PyList_New(0);
    for (int64_t k = 0; list && k < count; k++) {
        const char *level = gram_table_level(table, column, k);
        PyObject *text = PyUnicode_DecodeUTF8(level, (Py_ssize_t)strlen(level), "replace");
        if (!text || PyList_Append(list, text) < 0) Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *columns_of(const gram_table *table)
{
    PyObject *list = PyList_New(0);
    for (int64_t j = 0; list && j < gram_table_columns(table); j++) {
        const char *name = gram_table_column_name(table, j);
        PyObject *row =
            Py_BuildValue("NN", PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "replace"), levels_of(table, j));
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* (columns, numbers, has a header). */
static PyObject *pack_table(const gram_table *table)
{
    const int64_t n = gram_table_rows(table), d = gram_table_columns(table), ld = gram_table_ld(table);
    double *place = NULL;
    PyObject *memory = core_memory((size_t)(n * d) * sizeof *place, &place);
    if (!memory) return NULL;
    for (int64_t i = 0; i < n; i++)
        memcpy(place + i * d, gram_table_numbers(table) + i * ld, (size_t)d * sizeof *place);
    return Py_BuildValue("N(NLL)i", columns_of(table), memory, (long long)n, (long long)d,
                         gram_table_has_header(table));
}

/* read_table(run, path, format, features, ignore, missing). */
static PyObject *read_table(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *run, *path, *held, *made = NULL;
    const char *bytes = NULL;
    int format = 0;
    gram_table_options options;
    gram_table *table = NULL;
    core_call call;
    gram_status status = GRAM_OK;
    gram_table_options_init(&options, sizeof options);
    if (!PyArg_ParseTuple(arguments, "OOizzp", &run, &path, &format, &options.features, &options.ignore,
                          &options.keep_missing) ||
        !(held = core_path(path, &bytes)))
        return NULL;
    options.format = (gram_format)format;
    options.text = GRAM_TEXT_CATEGORIES;
    if (core_begin(&call, run, CORE_FREE_MEMORY) == 0) {
        CORE_RUN(&call, status = gram_table_read(call.context, bytes, &options, &table));
        if (core_end(&call, status) == 0) made = pack_table(table);
        gram_table_destroy(table);
    }
    Py_DECREF(held);
    return made;
}

PyMethodDef core_table_functions[] = {
    {"methods", methods, METH_NOARGS, NULL},
    {"kernels", kernels, METH_NOARGS, NULL},
    {"read_table", read_table, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
