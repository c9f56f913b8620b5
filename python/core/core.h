/* gram._core: libgram for Python, as thin as it can be. What its files share.
 *
 * The extension is built on the limited API (one binary for Python 3.11 and newer) and sees arrays through the buffer protocol
 * only: no headers of NumPy, no copies. It checks what memory safety needs (types, shapes, strides) and leaves all else to the
 * library, whose messages become exceptions, and to the Python layer (gram/), which makes the arrays.
 *
 * Every function that may take long has `run` as its first argument: (threads, memory, seed, progress). It works in a context of its
 * own, without the interpreter's lock, and looks for signals from time to time: Ctrl-C stops it. */
#ifndef GRAM_PYTHON_CORE_H
#define GRAM_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <gram/gram.h>

/* ---- calls of the library (core_call.c) ---- */

typedef struct core_call {
    gram_context *context;
    PyThreadState *thread; /* of the caller, while the interpreter is released */
    PyObject *progress;    /* borrowed; NULL: none */
} core_call;

/* How much memory a call may take that was not told: whatever there is, or 80 % of what is free; and whatever there is for a call that is
 * so short that a second thread would not pay. */
typedef enum core_budget { CORE_ALL_MEMORY, CORE_FREE_MEMORY, CORE_SHORT } core_budget;

/* Makes the context; `run` may be None. 0, or -1 with an exception. */
int core_begin(core_call *call, PyObject *run, core_budget budget);
/* Ends the call: 0, or -1 with the exception that the status (or a signal) makes. Destroys the context. */
int core_end(core_call *call, gram_status status);

/* Runs a statement without the interpreter's lock. */
#define CORE_RUN(call, statement)                                                                                      \
    do {                                                                                                               \
        (call)->thread = PyEval_SaveThread();                                                                          \
        statement;                                                                                                     \
        PyEval_RestoreThread((call)->thread);                                                                          \
        (call)->thread = NULL;                                                                                         \
    } while (0)

/* For what takes no time: a context of one thread. NULL with an exception. */
gram_context *core_context(void);
/* Sets the exception for a status, with the context's message and advice. Always NULL. */
PyObject *core_raise(const gram_context *context, gram_status status);

extern PyObject *core_numerical_error;

/* ---- arrays (core_arrays.c) ---- */

/* n rows of d numbers, ld apart: f64 or f32. None is an array without rows: all NULL and 0. */
typedef struct core_array {
    Py_buffer view;
    int held;
    double *f64;
    float *f32;
    int64_t n, d, ld;
    Py_buffer starts,
        weighing; /* of bags, if start is not NULL: (rows, start) or (rows, start, weights), and n counts bags */
    const int64_t *start;
    const double *weights; /* of the rows of bags, or NULL */
} core_array;

/* One or two dimensions; -1 with an exception that has the name. f32 is for inputs that are points. */
int core_array_get(PyObject *object, const char *name, core_array *array);
int core_array_points(PyObject *object, const char *name, core_array *array);
/* An array to write to, of n rows and d columns. */
int core_array_out(PyObject *object, const char *name, int64_t n, int64_t d, core_array *array);
void core_array_release(core_array *array);
/* Points of it, in its own precision. */
gram_status core_points(gram_context *context, const core_array *array, gram_points **points);

/* `bytes` of new memory that Python owns, to be filled: a bytearray, and where it is. */
PyObject *core_memory(size_t bytes, void *place);
/* n x d numbers as (bytearray, n, d). */
PyObject *core_numbers(const double *data, int64_t n, int64_t d);
/* A text that grew, which is freed, as str. */
PyObject *core_text(gram_string *text);

/* What columns are: a tuple of (name or None, None or a tuple of levels). The texts belong to the tuple. */
typedef struct core_columns {
    gram_column *columns; /* NULL: not known */
    const char **levels;
} core_columns;
int core_columns_get(PyObject *object, const char *name, int64_t count, core_columns *columns);
void core_columns_free(core_columns *columns);

/* Sparse rows (core_sparse.c): scipy's CSR arrays, of int64, int32 and float64. */
typedef struct core_sparse {
    Py_buffer views[3];
    int held; /* how many of them; 0: there are no sparse rows */
    const int64_t *start;
    const int32_t *index;
    const double *value;
    int64_t n, d;
} core_sparse;
int core_sparse_get(PyObject *object, const char *name, core_sparse *sparse);
void core_sparse_release(core_sparse *sparse);
/* The arrays' rows are these. */
void core_sparse_set(const core_sparse *sparse, gram_arrays *arrays);

/* Bytes that a path is; a new reference to an object that holds them, or NULL. */
PyObject *core_path(PyObject *path, const char **bytes);

/* ---- objects ---- */

typedef struct core_kernel {
    PyObject_HEAD gram_kernel *kernel;
} core_kernel;

typedef struct core_model {
    PyObject_HEAD gram_model *model;
} core_model;

/* The object takes the kernel or the model over, also if it fails. */
PyObject *core_kernel_object(gram_kernel *kernel);
PyObject *core_model_object(gram_model *model);
/* The kernel of an argument, NULL for None; -1 with an exception if it is neither. */
int core_kernel_get(PyObject *object, gram_kernel **kernel);
int core_model_get(PyObject *object, gram_model **model);

/* The result of something quick: the kernel, or the exception. Destroys the context. */
PyObject *core_kernel_finish(gram_context *context, gram_status status, gram_kernel *kernel);

/* Methods of kernels in core_matrix.c, and makers of them in core_function.c. */
PyObject *core_kernel_matrix(PyObject *self, PyObject *arguments);
PyObject *core_kernel_distance(PyObject *self, PyObject *arguments);
PyObject *core_kernel_diagonal(PyObject *self, PyObject *arguments);
PyObject *core_kernel_product(PyObject *self, PyObject *arguments);
PyObject *core_kernel_parameter_gradient(PyObject *self, PyObject *arguments);
PyObject *core_kernel_input_gradient(PyObject *self, PyObject *arguments);
PyObject *core_kernel_derivatives(PyObject *self, PyObject *arguments);
PyObject *core_kernel_draw(PyObject *self, PyObject *arguments);
PyObject *core_kernel_of_function(PyObject *module, PyObject *arguments);
PyObject *core_kernel_of_matrix(PyObject *module, PyObject *nothing);

/* A type of heap objects, ready; its instances are made by core_new and their memory is given back by core_free. */
int core_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type);
void *core_new(PyTypeObject *type);
void core_free(void *self);

int core_kernel_ready(PyObject *module);
int core_model_ready(PyObject *module);
int core_learner_ready(PyObject *module);
int core_conditional_ready(PyObject *module);
int core_study_ready(PyObject *module);

/* Functions of the other files, for the table of the module. */
extern PyMethodDef core_sample_functions[], core_kernel_functions[], core_model_functions[], core_table_functions[],
    core_study_functions[];

#endif
