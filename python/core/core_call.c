/* A call of the library: its context, the interpreter's lock, signals, progress, and what a failure becomes. */
#define _POSIX_C_SOURCE 200809L
#include "core.h"

#include <string.h>
#include <time.h>

PyObject *core_numerical_error = NULL;

/* ---- the exception ---- */

enum { MARK = 1 }; /* the learner writes it before the names of options */

static int is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

/* An option as Python has it: class-weight is class_weight, lambda is lam, and no-scale is scale=False. */
static const char *put_option(const char *from, gram_string *out)
{
    const int negated = strncmp(from, "no-", 3) == 0;
    if (negated) from += 3;
    size_t length = 0;
    while (is_name(from[length])) length++;
    if (length == 6 && strncmp(from, "lambda", 6) == 0)
        gram_string_put(out, "lam", 3);
    else
        for (size_t i = 0; i < length; i++) gram_string_put(out, from[i] == '-' ? "_" : from + i, 1);
    if (negated) gram_string_put(out, "=False", 6);
    return from + length;
}

static void put_spoken(const char *text, gram_string *out)
{
    while (*text) {
        if (*text == MARK) {
            text = put_option(text + 1, out);
        } else {
            gram_string_put(out, text, 1);
            text++;
        }
    }
}

static PyObject *exception_of(gram_status status)
{
    switch (status) {
    case GRAM_ERROR_MEMORY:
    case GRAM_ERROR_BUDGET:
    case GRAM_ERROR_OVERFLOW: return PyExc_MemoryError;
    case GRAM_ERROR_FILE: return PyExc_OSError;
    case GRAM_ERROR_NUMERICAL: return core_numerical_error;
    case GRAM_ERROR_CANCELLED: return PyExc_KeyboardInterrupt;
    case GRAM_ERROR_INTERNAL: return PyExc_RuntimeError;
    default: return PyExc_ValueError;
    }
}

PyObject *core_raise(const gram_context *context, gram_status status)
{
    gram_string text = {0};
    const char *message = gram_context_message(context), *advice = gram_context_advice(context);
    put_spoken(message[0] ? message : gram_status_text(status), &text);
    if (advice[0]) {
        gram_string_put(&text, ". ", 2);
        put_spoken(advice, &text);
    }
    PyObject *said = core_text(&text);
    if (said) PyErr_SetObject(exception_of(status), said);
    Py_XDECREF(said);
    return NULL;
}

/* ---- what the library calls back, in the caller's thread ---- */

static void show_progress(void *user, const char *what, double share)
{
    core_call *call = user;
    PyEval_RestoreThread(call->thread);
    if (!PyErr_Occurred()) {
        PyObject *answer = PyObject_CallFunction(call->progress, "sd", what, share);
        Py_XDECREF(answer);
    }
    call->thread = PyEval_SaveThread();
}

/* An exception, of a signal's handler or of progress, stays set until the call ends. */
static int is_cancelled(void *user)
{
    core_call *call = user;
    PyEval_RestoreThread(call->thread);
    const int stop = PyErr_Occurred() || PyErr_CheckSignals() < 0;
    call->thread = PyEval_SaveThread();
    return stop;
}

/* ---- a call ---- */

static int make_context(core_call *call, const gram_context_options *options)
{
    const gram_status status = gram_context_create(options, &call->context);
    if (status >= 0) return 0;
    if (status == GRAM_ERROR_ARGUMENT)
        PyErr_Format(PyExc_ValueError, "threads = %d is not a number from 1 to 1024", options->threads);
    else
        PyErr_SetString(exception_of(status), gram_status_text(status));
    return -1;
}

/* What is free is read from several files; in a loop of tiny fits that would take most of the time. */
static size_t free_memory(int threads)
{
    static size_t known = 0;
    static int known_threads = -1;
    static double when = 0;
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const double time = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    if (threads != known_threads || time - when > 0.1) {
        known = gram_system_memory_budget(threads);
        known_threads = threads;
        when = time;
    }
    return known;
}

int core_begin(core_call *call, PyObject *run, core_budget budget)
{
    gram_context_options options;
    long long memory = 0;
    unsigned long long seed = 0;
    PyObject *progress = Py_None;
    *call = (core_call){0};
    gram_context_options_init(&options, sizeof options);
    if (run != Py_None && !PyArg_ParseTuple(run, "iLKO", &options.threads, &memory, &seed, &progress)) return -1;
    options.seed = seed;
    options.memory_budget = (size_t)memory;
    if (budget == CORE_FREE_MEMORY && memory == 0) {
        options.memory_budget = free_memory(options.threads);
    }
    if (budget == CORE_SHORT) options.threads = 1;
    options.cancel = is_cancelled;
    options.cancel_user = call;
    if (progress != Py_None) {
        call->progress = progress;
        options.progress = show_progress;
        options.progress_user = call;
    }
    return make_context(call, &options);
}

int core_end(core_call *call, gram_status status)
{
    if (status < 0 && !PyErr_Occurred()) (void)core_raise(call->context, status);
    gram_context_destroy(call->context);
    call->context = NULL;
    return PyErr_Occurred() ? -1 : 0;
}

gram_context *core_context(void)
{
    core_call call = {0};
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.threads = 1;
    return make_context(&call, &options) == 0 ? call.context : NULL;
}
