/* The module gram._core: its exception, its types, and the functions of the other files. */
#include "core.h"

static PyObject *about(PyObject *module, PyObject *nothing)
{
    (void)module, (void)nothing;
    gram_context *context = core_context();
    if (!context) return NULL;
    PyObject *made = Py_BuildValue("{s:s,s:s,s:s,s:i}", "version", gram_version(), "blas", gram_blas_name(),
                                   "instructions", gram_context_isa(context), "threads", gram_system_threads(0));
    gram_context_destroy(context);
    return made;
}

/* "8G" and the like as bytes. */
static PyObject *parse_bytes(PyObject *module, PyObject *arguments)
{
    (void)module;
    const char *text = NULL;
    uint64_t bytes = 0;
    if (!PyArg_ParseTuple(arguments, "s", &text)) return NULL;
    if (gram_bytes_parse(text, &bytes)) return PyLong_FromUnsignedLongLong(bytes);
    PyErr_Format(PyExc_ValueError, "'%s' is not a size: write 8G, 512M or a number of bytes", text);
    return NULL;
}

static PyMethodDef FUNCTIONS[] = {
    {"about", about, METH_NOARGS, NULL},
    {"parse_bytes", parse_bytes, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_core", "libgram, as the package gram calls it.", -1, FUNCTIONS, NULL, NULL, NULL, NULL};

static int add_functions(PyObject *module)
{
    if (PyModule_AddFunctions(module, core_kernel_functions) < 0) return -1;
    if (PyModule_AddFunctions(module, core_model_functions) < 0) return -1;
    if (PyModule_AddFunctions(module, core_table_functions) < 0) return -1;
    if (PyModule_AddFunctions(module, core_study_functions) < 0) return -1;
    return PyModule_AddFunctions(module, core_sample_functions);
}

/* NumericalError: what came out is not to be used, because numbers were too large, too small or too near to each other. */
static int add_exception(PyObject *module)
{
    PyObject *bases = PyTuple_Pack(2, PyExc_ValueError, PyExc_ArithmeticError);
    if (bases) core_numerical_error = PyErr_NewException("gram.NumericalError", bases, NULL);
    Py_XDECREF(bases);
    return core_numerical_error ? PyModule_AddObjectRef(module, "NumericalError", core_numerical_error) : -1;
}

PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *module = PyModule_Create(&MODULE);
    if (!module) return NULL;
    if (add_exception(module) == 0 && add_functions(module) == 0 && core_kernel_ready(module) == 0 &&
        core_model_ready(module) == 0 && core_learner_ready(module) == 0 && core_conditional_ready(module) == 0 &&
        core_study_ready(module) == 0)
        return module;
    Py_DECREF(module);
    return NULL;
}
