/* Kernels: the objects, their algebra, parameters and facts. Their matrices are in core_matrix.c. */
#include "core.h"

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

PyObject *core_kernel_finish(gram_context *context, gram_status status, gram_kernel *kernel)
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
    return core_kernel_finish(context, status, kernel);
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
    return core_kernel_finish(context, status, kernel);
}

static PyObject *join(PyObject *self, PyObject *other,
                      gram_status (*make)(gram_context *, gram_kernel *, gram_kernel *, gram_kernel **))
{
    gram_kernel *b = NULL, *kernel = NULL;
    if (core_kernel_get(other, &b) < 0) return NULL;
    gram_context *context = core_context();
    if (!context) return NULL;
    const gram_status status = make(context, own(self), b, &kernel);
    return core_kernel_finish(context, status, kernel);
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
    return core_kernel_finish(context, status, kernel);
}

static PyObject *wrap(PyObject *self, gram_status (*make)(gram_context *, gram_kernel *, gram_kernel **))
{
    gram_kernel *kernel = NULL;
    gram_context *context = core_context();
    if (!context) return NULL;
    const gram_status status = make(context, own(self), &kernel);
    return core_kernel_finish(context, status, kernel);
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
    return core_kernel_finish(context, status, kernel);
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
        made = core_kernel_finish(context, status, kernel);
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
        made = core_kernel_finish(context, status, kernel);
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
    return core_kernel_finish(context, status, kernel);
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
    {"matrix", core_kernel_matrix, METH_VARARGS, NULL},
    {"distance", core_kernel_distance, METH_VARARGS, NULL},
    {"diagonal", core_kernel_diagonal, METH_VARARGS, NULL},
    {"product", core_kernel_product, METH_VARARGS, NULL},
    {"parameter_gradient", core_kernel_parameter_gradient, METH_VARARGS, NULL},
    {"input_gradient", core_kernel_input_gradient, METH_VARARGS, NULL},
    {"derivatives", core_kernel_derivatives, METH_VARARGS, NULL},
    {"draw", core_kernel_draw, METH_VARARGS, NULL},
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
    {"kernel_callback", core_kernel_of_function, METH_VARARGS, NULL},
    {"kernel_precomputed", core_kernel_of_matrix, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
