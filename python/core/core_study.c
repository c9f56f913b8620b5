/* Studies: Bayesian optimisation, asked and told. Points are arrays with one number for each variable; categories are numbers of levels. */
#include "core.h"

#include <math.h>
#include <string.h>

typedef struct core_study {
    PyObject_HEAD gram_study *study;
} core_study;

static PyTypeObject *study_type = NULL;

static void forget(PyObject *self)
{
    gram_study_destroy(((core_study *)self)->study);
    core_free(self);
}

static gram_study *of(PyObject *self)
{
    return ((core_study *)self)->study;
}

/* ---- making ---- */

/* (name, kind, lower, upper, levels): the texts belong to the tuple. */
static int take_variable(PyObject *given, gram_variable *v, const char **levels, Py_ssize_t room)
{
    PyObject *texts = NULL;
    int kind = 0;
    *v = (gram_variable){0};
    if (!PyArg_ParseTuple(given, "siddO", &v->name, &kind, &v->lower, &v->upper, &texts)) return -1;
    const Py_ssize_t count = PyTuple_Size(texts);
    if (count < 0 || count > room) return -1;
    for (Py_ssize_t i = 0; i < count; i++)
        if (!(levels[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(texts, i), NULL))) return -1;
    v->kind = (gram_variable_kind)kind;
    v->levels = levels;
    v->level_count = count;
    return (int)count;
}

typedef struct making {
    PyObject *variables;
    gram_study_options options;
    core_array candidates;
} making;

static PyObject *make_of(PyObject *run, making *m, Py_ssize_t level_count)
{
    const Py_ssize_t count = PyTuple_Size(m->variables);
    gram_variable *list = PyMem_Calloc((size_t)count + 1, sizeof *list);
    const char **levels = PyMem_Calloc((size_t)level_count + 1, sizeof *levels);
    core_study *made = list && levels ? core_new(study_type) : NULL;
    Py_ssize_t used = 0;
    core_call call;
    gram_status status = GRAM_OK;
    if (!made) PyErr_NoMemory();
    for (Py_ssize_t i = 0; made && i < count && !PyErr_Occurred(); i++) {
        const int taken = take_variable(PyTuple_GetItem(m->variables, i), list + i, levels + used, level_count - used);
        used += taken > 0 ? taken : 0;
    }
    if (made && !PyErr_Occurred() && core_begin(&call, run, CORE_SHORT) == 0) {
        status = gram_study_create(call.context, count, list, &m->options, &made->study);
        (void)core_end(&call, status);
    }
    PyMem_Free(list);
    PyMem_Free((void *)levels);
    if (!PyErr_Occurred()) return (PyObject *)made;
    Py_XDECREF((PyObject *)made);
    return NULL;
}

/* study(run, variables, levels in all, maximize, acquisition, noise, kappa, start, constraints, trust_region, seed, candidates or None). */
static PyObject *make_study(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *run, *candidates, *made = NULL;
    making m = {0};
    Py_ssize_t levels = 0;
    int acquisition = 0;
    long long start = 0, constraints = 0;
    unsigned long long seed = 0;
    gram_study_options_init(&m.options, sizeof m.options);
    if (!PyArg_ParseTuple(arguments, "OO!npiddLLiKO", &run, &PyTuple_Type, &m.variables, &levels, &m.options.maximize,
                          &acquisition, &m.options.noise, &m.options.kappa, &start, &constraints,
                          &m.options.trust_region, &seed, &candidates))
        return NULL;
    m.options.acquisition = (gram_acquisition_kind)acquisition;
    m.options.start = start;
    m.options.constraints = constraints;
    m.options.seed = seed;
    if (core_array_get(candidates, "candidates", &m.candidates) == 0) {
        const core_array *c = &m.candidates;
        if (c->held && (c->d != PyTuple_Size(m.variables) || c->ld != c->d))
            PyErr_SetString(PyExc_ValueError, "candidates has not a column for each variable");
        m.options.candidates = c->f64;
        m.options.candidate_count = c->n;
        if (!PyErr_Occurred()) made = make_of(run, &m, levels);
    }
    core_array_release(&m.candidates);
    return made;
}

/* read_study(path) */
static PyObject *read_study(PyObject *module, PyObject *path)
{
    (void)module;
    const char *bytes = NULL;
    PyObject *held = core_path(path, &bytes);
    core_study *made = held ? core_new(study_type) : NULL;
    core_call call;
    if (made && core_begin(&call, Py_None, CORE_SHORT) == 0)
        (void)core_end(&call, gram_study_read(call.context, bytes, &made->study));
    Py_XDECREF(held);
    if (made && !PyErr_Occurred()) return (PyObject *)made;
    Py_XDECREF((PyObject *)made);
    return NULL;
}

/* ---- asking and telling ---- */

static int64_t dimension(PyObject *self)
{
    return gram_study_variable_count(of(self));
}

/* ask(run): (trial, row, by_model, mean, deviation, expected improvement, the point). */
static PyObject *ask(PyObject *self, PyObject *run)
{
    const size_t bytes = (size_t)dimension(self) * sizeof(double);
    double *x = PyMem_Malloc(bytes);
    gram_proposal p = {.size = sizeof p};
    PyObject *made = NULL;
    core_call call;
    gram_status status = GRAM_OK;
    if (!x) return PyErr_NoMemory();
    if (core_begin(&call, run, CORE_FREE_MEMORY) == 0) {
        CORE_RUN(&call, status = gram_study_ask(call.context, of(self), x, &p));
        if (core_end(&call, status) == 0)
            made = Py_BuildValue("LLidddN", (long long)p.trial, (long long)p.row, p.by_model, p.mean, p.deviation,
                                 p.expected_improvement, core_numbers(x, 1, dimension(self)));
    }
    PyMem_Free(x);
    return made;
}

/* An array of `wanted` numbers, or None where there need be none. */
static int take_numbers(PyObject *object, const char *name, int64_t wanted, core_array *array)
{
    if (core_array_get(object, name, array) < 0) return -1;
    if (array->n * array->d == wanted && (array->n <= 1 || array->ld == array->d)) return 0;
    PyErr_Format(PyExc_ValueError, "%s: %lld numbers, the study has %lld", name, (long long)(array->n * array->d),
                 (long long)wanted);
    return -1;
}

static int64_t constraint_count(PyObject *self)
{
    gram_study_options options = {.size = sizeof options};
    gram_context *context = core_context();
    const gram_status status = context ? gram_study_get_options(context, of(self), &options) : GRAM_ERROR_MEMORY;
    gram_context_destroy(context);
    return status < 0 ? 0 : options.constraints;
}

/* tell(trial or -1, point or None, value, constraints or None): of a trial, or of a point that was not asked for. */
static PyObject *tell(PyObject *self, PyObject *arguments)
{
    PyObject *point, *given;
    core_array x = {0}, limits = {0};
    long long trial = 0;
    double value = 0;
    core_call call;
    if (!PyArg_ParseTuple(arguments, "LOdO", &trial, &point, &value, &given)) return NULL;
    const int64_t wanted = isfinite(value) ? constraint_count(self) : 0;
    if (PyErr_Occurred()) return NULL;
    if (take_numbers(point, "x", trial < 0 ? dimension(self) : 0, &x) == 0 &&
        take_numbers(isfinite(value) ? given : Py_None, "constraints", wanted, &limits) == 0 &&
        core_begin(&call, Py_None, CORE_SHORT) == 0)
        (void)core_end(&call, trial < 0 ? gram_study_add(call.context, of(self), x.f64, value, limits.f64)
                                        : gram_study_tell(call.context, of(self), trial, value, limits.f64));
    core_array_release(&x);
    core_array_release(&limits);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *suggest(PyObject *self, PyObject *point)
{
    core_array x = {0};
    core_call call;
    if (take_numbers(point, "x", dimension(self), &x) == 0 && core_begin(&call, Py_None, CORE_SHORT) == 0)
        (void)core_end(&call, gram_study_suggest(call.context, of(self), x.f64));
    core_array_release(&x);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *requeue(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    gram_study_requeue(of(self));
    Py_RETURN_NONE;
}

/* ---- what is known ---- */

/* trials(): a list of (state, row, point, value, feasible). */
static PyObject *trials(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    gram_context *context = core_context();
    PyObject *list = context ? PyList_New(0) : NULL;
    gram_trial t = {.size = sizeof t};
    for (int64_t i = 0; list && i < gram_study_trial_count(of(self)); i++) {
        if (gram_study_trial(context, of(self), i, &t) < 0) break;
        PyObject *row = Py_BuildValue("iLNdi", (int)t.state, (long long)t.row, core_numbers(t.x, 1, dimension(self)),
                                      t.value, t.feasible);
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    gram_context_destroy(context);
    return list;
}

static PyObject *best(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return PyLong_FromLongLong(gram_study_best(of(self)));
}

/* predict(run, X, mean, deviation, acquisition): the last three are written to. */
static PyObject *predict(PyObject *self, PyObject *arguments)
{
    PyObject *run, *objects[4];
    core_array x = {0}, out[3];
    memset(out, 0, sizeof out);
    core_call call;
    gram_status status = GRAM_OK;
    int good = 1;
    if (!PyArg_ParseTuple(arguments, "OOOOO", &run, objects, objects + 1, objects + 2, objects + 3)) return NULL;
    if (core_array_get(objects[0], "X", &x) < 0) return NULL;
    if (x.d != dimension(self) || x.ld != x.d) {
        PyErr_SetString(PyExc_ValueError, "X has not a column for each variable");
        good = 0;
    }
    for (int i = 0; i < 3 && good; i++) good = core_array_out(objects[i + 1], "out", x.n, 1, out + i) == 0;
    if (good && core_begin(&call, run, CORE_FREE_MEMORY) == 0) {
        CORE_RUN(&call,
                 status = gram_study_predict(call.context, of(self), x.n, x.f64, out[0].f64, out[1].f64, out[2].f64));
        (void)core_end(&call, status);
    }
    core_array_release(&x);
    for (int i = 0; i < 3; i++) core_array_release(out + i);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* importance(run, out) */
static PyObject *importance(PyObject *self, PyObject *arguments)
{
    PyObject *run, *object;
    core_array out = {0};
    core_call call;
    gram_status status = GRAM_OK;
    if (!PyArg_ParseTuple(arguments, "OO", &run, &object)) return NULL;
    if (core_array_out(object, "out", 1, dimension(self), &out) == 0 && core_begin(&call, run, CORE_FREE_MEMORY) == 0) {
        CORE_RUN(&call, status = gram_study_importance(call.context, of(self), out.f64));
        (void)core_end(&call, status);
    }
    core_array_release(&out);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* recommend(run, out): (mean, deviation); out gets the point. */
static PyObject *recommend(PyObject *self, PyObject *arguments)
{
    PyObject *run, *object;
    core_array out = {0};
    core_call call;
    gram_status status = GRAM_OK;
    double mean = 0, deviation = 0;
    if (!PyArg_ParseTuple(arguments, "OO", &run, &object)) return NULL;
    if (core_array_out(object, "out", 1, dimension(self), &out) == 0 && core_begin(&call, run, CORE_FREE_MEMORY) == 0) {
        CORE_RUN(&call, status = gram_study_recommend(call.context, of(self), out.f64, &mean, &deviation));
        (void)core_end(&call, status);
    }
    core_array_release(&out);
    if (PyErr_Occurred()) return NULL;
    return Py_BuildValue("dd", mean, deviation);
}

static PyObject *regret(PyObject *self, PyObject *run)
{
    core_call call;
    gram_status status = GRAM_OK;
    double bound = 0;
    if (core_begin(&call, run, CORE_FREE_MEMORY) < 0) return NULL;
    CORE_RUN(&call, status = gram_study_regret(call.context, of(self), &bound));
    if (core_end(&call, status) < 0) return NULL;
    return PyFloat_FromDouble(bound);
}

static PyObject *learn(PyObject *self, PyObject *run)
{
    core_call call;
    gram_status status = GRAM_OK;
    if (core_begin(&call, run, CORE_FREE_MEMORY) < 0) return NULL;
    CORE_RUN(&call, status = gram_study_learn(call.context, of(self)));
    if (core_end(&call, status) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *write_study(PyObject *self, PyObject *path)
{
    const char *bytes = NULL;
    PyObject *held = core_path(path, &bytes);
    core_call call;
    if (held && core_begin(&call, Py_None, CORE_SHORT) == 0)
        (void)core_end(&call, gram_study_write(call.context, of(self), bytes));
    Py_XDECREF(held);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

/* variables(): a list of (name, kind, lower, upper, levels), as they are given; constraints. */
static PyObject *variables(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < dimension(self); i++) {
        const gram_variable v = gram_study_variable(of(self), i);
        PyObject *levels = PyTuple_New((Py_ssize_t)v.level_count), *row;
        for (int64_t l = 0; levels && l < v.level_count; l++)
            if (PyTuple_SetItem(levels, (Py_ssize_t)l, PyUnicode_FromString(v.levels[l])) < 0) Py_CLEAR(levels);
        row = levels ? Py_BuildValue("siddN", v.name, (int)v.kind, v.lower, v.upper, levels) : NULL;
        if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyMethodDef METHODS[] = {
    {"ask", ask, METH_O, NULL},
    {"tell", tell, METH_VARARGS, NULL},
    {"suggest", suggest, METH_O, NULL},
    {"requeue", requeue, METH_NOARGS, NULL},
    {"trials", trials, METH_NOARGS, NULL},
    {"best", best, METH_NOARGS, NULL},
    {"learn", learn, METH_O, NULL},
    {"predict", predict, METH_VARARGS, NULL},
    {"importance", importance, METH_VARARGS, NULL},
    {"recommend", recommend, METH_VARARGS, NULL},
    {"regret", regret, METH_O, NULL},
    {"variables", variables, METH_NOARGS, NULL},
    {"write", write_study, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot SLOTS[] = {{Py_tp_dealloc, forget}, {Py_tp_methods, METHODS}, {0, NULL}};
static PyType_Spec SPEC = {"gram._core.Study", sizeof(core_study), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, SLOTS};

int core_study_ready(PyObject *module)
{
    return core_add_type(module, &SPEC, &study_type);
}

PyMethodDef core_study_functions[] = {
    {"study", make_study, METH_VARARGS, NULL},
    {"read_study", read_study, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
