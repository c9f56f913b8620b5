/* The learner: options by name, arrays in, a model out. It keeps the prepared rows until it is gone: what the fit says of them can
 * be asked for. */
#include "core.h"

#include <string.h>

typedef struct core_learner {
    PyObject_HEAD gram_learner *learner;
    PyObject *plan; /* what was announced */
    core_array x;   /* the rows of the last lesson, which the learner may go on looking at */
} core_learner;

static PyTypeObject *learner_type = NULL;

static void forget(PyObject *self)
{
    core_learner *l = (core_learner *)self;
    gram_learner_destroy(l->learner);
    core_array_release(&l->x);
    Py_XDECREF(l->plan);
    core_free(self);
}

/* ---- options ---- */

static gram_status set_options(gram_context *context, gram_learner *learner, PyObject *options)
{
    gram_status status = gram_learner_speak(context, learner, "fit", "\1");
    for (Py_ssize_t i = 0; status >= 0 && i < PyTuple_Size(options); i++) {
        const char *name = NULL, *value = NULL;
        if (!PyArg_ParseTuple(PyTuple_GetItem(options, i), "ss", &name, &value)) return GRAM_ERROR_ARGUMENT;
        status = gram_learner_set(context, learner, name, value);
    }
    return status;
}

/* learner(((name, text), ...), kernel or None). */
static PyObject *make_learner(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *options = NULL, *kernel_object = NULL;
    gram_kernel *kernel = NULL;
    if (!PyArg_ParseTuple(arguments, "O!O", &PyTuple_Type, &options, &kernel_object)) return NULL;
    if (core_kernel_get(kernel_object, &kernel) < 0) return NULL;
    core_learner *made = core_new(learner_type);
    gram_context *context = made ? core_context() : NULL;
    if (!context) {
        Py_XDECREF((PyObject *)made);
        return NULL;
    }
    gram_status status = gram_learner_create(context, &made->learner);
    if (status >= 0) status = set_options(context, made->learner, options);
    if (status >= 0 && kernel) status = gram_learner_set_kernel(context, made->learner, kernel);
    if (status < 0 && !PyErr_Occurred()) (void)core_raise(context, status);
    gram_context_destroy(context);
    if (status >= 0) return (PyObject *)made;
    Py_DECREF((PyObject *)made);
    return NULL;
}

/* ---- learning ---- */

typedef struct lesson {
    core_sparse sparse; /* in place of x */
    core_array x, y, second, extra, weights;
    core_columns features, target, second_features, extra_columns;
    gram_arrays arrays;
} lesson;

static void release(lesson *l)
{
    core_sparse_release(&l->sparse);
    core_array_release(&l->x);
    core_array_release(&l->y);
    core_array_release(&l->second);
    core_array_release(&l->extra);
    core_array_release(&l->weights);
    core_columns_free(&l->features);
    core_columns_free(&l->target);
    core_columns_free(&l->second_features);
    core_columns_free(&l->extra_columns);
    PyMem_Free((void *)l->arrays.extra_names);
}

static int same_rows(const core_array *array, const char *name, int64_t n, int without_gaps)
{
    if (!array->held) return 0;
    if (array->n != n) {
        PyErr_Format(PyExc_ValueError, "%s has %lld rows, X has %lld", name, (long long)array->n, (long long)n);
        return -1;
    }
    if (!without_gaps || array->ld == array->d) return 0;
    PyErr_Format(PyExc_ValueError, "%s: an array without gaps is needed", name);
    return -1;
}

static int take_extras(lesson *l, PyObject *columns)
{
    if (!l->extra.held) return 0;
    if (core_columns_get(columns, "extra", l->extra.d, &l->extra_columns) < 0) return -1;
    const char **names = PyMem_Calloc((size_t)l->extra.d + 1, sizeof *names);
    l->arrays.extra_names = names;
    if (!names) {
        PyErr_NoMemory();
        return -1;
    }
    for (int64_t j = 0; j < l->extra.d; j++) {
        names[j] = l->extra_columns.columns ? l->extra_columns.columns[j].name : NULL;
        if (names[j]) continue;
        PyErr_SetString(PyExc_ValueError, "extra: one name for each column is needed");
        return -1;
    }
    l->arrays.extra_columns = l->extra_columns.columns;
    return 0;
}

static void set_arrays(lesson *l)
{
    gram_arrays *a = &l->arrays;
    a->n = l->x.n;
    a->d = l->x.d;
    a->x = l->x.f64;
    a->ldx = l->x.ld;
    a->targets = l->y.d;
    a->y = l->y.f64;
    a->ldy = l->y.ld;
    a->weights = l->weights.f64;
    a->second = l->second.f64;
    a->second_d = l->second.d;
    a->second_ld = l->second.ld;
    a->features = l->features.columns;
    a->target = l->target.columns;
    a->second_features = l->second_features.columns;
    a->extras = l->extra.d;
    a->extra = l->extra.f64;
    a->lend = 1;
    if (l->sparse.held) core_sparse_set(&l->sparse, a);
}

static int take_lesson(PyObject *arguments, PyObject **run, lesson *l)
{
    PyObject *x, *features, *y, *target, *second, *second_features, *extra, *extra_names, *weights;
    memset(l, 0, sizeof *l);
    gram_arrays_init(&l->arrays, sizeof l->arrays);
    if (!PyArg_ParseTuple(arguments, "OOOOOOOOOO", run, &x, &features, &y, &target, &second, &second_features, &extra,
                          &extra_names, &weights))
        return -1;
    if ((PyTuple_Check(x) ? core_sparse_get(x, "X", &l->sparse) : core_array_get(x, "X", &l->x)) < 0 ||
        core_array_get(y, "y", &l->y) < 0 || core_array_get(second, "Y", &l->second) < 0 ||
        core_array_get(extra, "extra", &l->extra) < 0 || core_array_get(weights, "sample_weight", &l->weights) < 0)
        return -1;
    const int64_t n = l->sparse.held ? l->sparse.n : l->x.n;
    if (same_rows(&l->y, "y", n, 0) < 0 || same_rows(&l->second, "Y", n, 0) < 0 ||
        same_rows(&l->extra, "extra", n, 1) < 0 || same_rows(&l->weights, "sample_weight", n, 1) < 0)
        return -1;
    if ((!l->sparse.held && core_columns_get(features, "features", l->x.d, &l->features) < 0) ||
        core_columns_get(target, "target", 1, &l->target) < 0 ||
        core_columns_get(second_features, "second_features", l->second.d, &l->second_features) < 0)
        return -1;
    if (take_extras(l, extra_names) < 0) return -1;
    set_arrays(l);
    return 0;
}

/* What was planned, copied while the interpreter is released. */
typedef struct announced {
    int told;
    char words[128], reason[256];
    double bytes, seconds;
    int tunes;
} announced;

static void copy_text(char *to, size_t size, const char *from)
{
    const size_t length = from ? strlen(from) : 0, most = length < size - 1 ? length : size - 1;
    if (most > 0) memcpy(to, from, most);
    to[most] = '\0';
}

static void hear(void *user, const gram_learn_plan *plan)
{
    announced *a = user;
    a->told = 1;
    copy_text(a->words, sizeof a->words, plan->words);
    copy_text(a->reason, sizeof a->reason, plan->reason);
    a->bytes = (double)plan->bytes;
    a->seconds = plan->seconds;
    a->tunes = plan->tunes;
}

/* learn(run, X, features, y, target, Y, second_features, extra, extra_names, weights). */
static PyObject *learn(PyObject *self, PyObject *arguments)
{
    core_learner *own = (core_learner *)self;
    PyObject *run = NULL;
    lesson l;
    core_call call;
    announced plan = {0};
    gram_model *model = NULL;
    gram_status status = GRAM_OK;
    if (take_lesson(arguments, &run, &l) == 0 && core_begin(&call, run, CORE_FREE_MEMORY) == 0) {
        gram_learner_on_plan(own->learner, hear, &plan);
        CORE_RUN(&call, status = gram_learn_arrays(call.context, own->learner, &l.arrays, &model));
        gram_learner_on_plan(own->learner, NULL, NULL);
        (void)core_end(&call, status);
        core_array_release(&own->x);
        own->x = l.x;
        l.x = (core_array){0};
    }
    release(&l);
    if (!PyErr_Occurred() && plan.told) {
        Py_XDECREF(own->plan);
        own->plan = Py_BuildValue("ssddi", plan.words, plan.reason, plan.bytes, plan.seconds, plan.tunes);
    }
    if (!PyErr_Occurred()) return core_model_object(model);
    gram_model_destroy(model);
    return NULL;
}

static PyObject *plan_of(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    PyObject *plan = ((core_learner *)self)->plan;
    if (!plan) Py_RETURN_NONE;
    Py_INCREF(plan);
    return plan;
}

static int64_t row_count(const core_learner *own)
{
    const gram_lesson *known = gram_learner_lesson(own->learner);
    if (!known || !known->data) PyErr_SetString(PyExc_ValueError, "the learner has not learnt");
    return known && known->data ? known->data->n : -1;
}

/* fitted(run, model) = (what, numbers): leave-one-out predictions or fitted values of the first target. */
static PyObject *fitted(PyObject *self, PyObject *arguments)
{
    core_learner *own = (core_learner *)self;
    PyObject *run, *model_object;
    gram_model *model = NULL;
    core_call call;
    gram_status status = GRAM_OK;
    const char *what = "";
    double *place = NULL;
    if (!PyArg_ParseTuple(arguments, "OO", &run, &model_object) || core_model_get(model_object, &model) < 0)
        return NULL;
    const int64_t n = row_count(own);
    PyObject *memory = n < 0 ? NULL : core_memory((size_t)n * sizeof *place, &place);
    if (!memory) return NULL;
    if (core_begin(&call, run, CORE_FREE_MEMORY) == 0) {
        CORE_RUN(&call, status = gram_learner_fitted(call.context, own->learner, model, place, &what));
        (void)core_end(&call, status);
    }
    if (!PyErr_Occurred()) return Py_BuildValue("s(NLL)", what, memory, (long long)n, 1LL);
    Py_DECREF(memory);
    return NULL;
}

/* How many columns the model predicts; 0 with an exception. */
static int64_t count_columns(PyObject *run, const gram_model *model)
{
    gram_predictor *predictor = NULL;
    core_call call;
    int64_t count = 0;
    gram_status status = GRAM_OK;
    if (core_begin(&call, run, CORE_FREE_MEMORY) < 0) return 0;
    CORE_RUN(&call, status = gram_predictor_create(call.context, model, NULL, &predictor));
    if (status >= 0) count = gram_predictor_columns(predictor)->count;
    gram_predictor_destroy(predictor);
    return core_end(&call, status) < 0 ? 0 : count;
}

/* values(run, model): what the model says of the rows of the fit. */
static PyObject *values(PyObject *self, PyObject *arguments)
{
    core_learner *own = (core_learner *)self;
    PyObject *run, *model_object;
    gram_model *model = NULL;
    core_call call;
    gram_status status = GRAM_OK;
    double *place = NULL;
    if (!PyArg_ParseTuple(arguments, "OO", &run, &model_object) || core_model_get(model_object, &model) < 0)
        return NULL;
    const int64_t n = row_count(own), columns = n < 0 ? 0 : count_columns(run, model);
    PyObject *memory = columns < 1 ? NULL : core_memory((size_t)(n * columns) * sizeof *place, &place);
    if (!memory) return NULL;
    if (core_begin(&call, run, CORE_FREE_MEMORY) == 0) {
        CORE_RUN(&call, status = gram_learner_values(call.context, own->learner, model, place, columns));
        (void)core_end(&call, status);
    }
    if (!PyErr_Occurred()) return Py_BuildValue("NLL", memory, (long long)n, (long long)columns);
    Py_DECREF(memory);
    return NULL;
}

/* The arrays as a table with the columns that the learner's options name. */
static gram_status table_of(gram_context *context, const lesson *l, gram_learner *learner, gram_table **table)
{
    const char *target = l->target.columns ? l->target.columns[0].name : NULL;
    gram_status status = gram_arrays_table(context, &l->arrays, table);
    if (status >= 0 && l->y.held) status = gram_learner_set(context, learner, "target", target ? target : "y");
    return status;
}

/* compare((what learn takes), methods, kernel, folds, fit_rows): JSON. */
static PyObject *compare(PyObject *self, PyObject *arguments)
{
    core_learner *own = (core_learner *)self;
    PyObject *given = NULL, *run = NULL;
    gram_compare_options options;
    gram_comparison *comparison = NULL;
    gram_table *table = NULL;
    gram_string text = {0};
    gram_json json = {.text = &text};
    gram_status status = GRAM_OK;
    long long folds, fit_rows;
    lesson l = {0};
    core_call call;
    gram_compare_options_init(&options, sizeof options);
    if (!PyArg_ParseTuple(arguments, "O!zzLL", &PyTuple_Type, &given, &options.methods, &options.kernel, &folds,
                          &fit_rows))
        return NULL;
    options.folds = folds;
    options.fit_rows = fit_rows;
    if (take_lesson(given, &run, &l) == 0 && core_begin(&call, run, CORE_FREE_MEMORY) == 0) {
        status = table_of(call.context, &l, own->learner, &table);
        if (status >= 0)
            CORE_RUN(&call, status = gram_compare_table(call.context, own->learner, table, "X", &options, &comparison));
        (void)core_end(&call, status);
    }
    gram_json_open(&json, NULL, '{');
    if (comparison) gram_comparison_json(comparison, &json);
    gram_json_close(&json, '{');
    gram_comparison_destroy(comparison);
    gram_table_destroy(table);
    release(&l);
    if (!PyErr_Occurred()) return core_text(&text);
    gram_string_free(&text);
    return NULL;
}

/* explain((what learn takes), model, repeats, rows, features or None, row): JSON. */
static PyObject *explain(PyObject *self, PyObject *arguments)
{
    core_learner *own = (core_learner *)self;
    PyObject *given = NULL, *run = NULL, *model_object = NULL;
    gram_explain_options options;
    gram_explanation *explanation = NULL;
    gram_model *model = NULL;
    gram_table *table = NULL;
    gram_string text = {0};
    gram_json json = {.text = &text};
    gram_status status = GRAM_OK;
    long long repeats, rows, row;
    lesson l = {0};
    core_call call;
    gram_explain_options_init(&options, sizeof options);
    if (!PyArg_ParseTuple(arguments, "O!OLLzL", &PyTuple_Type, &given, &model_object, &repeats, &rows,
                          &options.features, &row) ||
        core_model_get(model_object, &model) < 0)
        return NULL;
    options.repeats = repeats;
    options.rows = rows;
    options.row = row;
    if (take_lesson(given, &run, &l) == 0 && core_begin(&call, run, CORE_FREE_MEMORY) == 0) {
        status = table_of(call.context, &l, own->learner, &table);
        if (status >= 0)
            CORE_RUN(&call, status = gram_explain_table(call.context, model, table, "X", &options, &explanation));
        (void)core_end(&call, status);
    }
    gram_json_open(&json, NULL, '{');
    if (explanation) gram_explanation_json(explanation, &json);
    gram_json_close(&json, '{');
    gram_explanation_destroy(explanation);
    gram_table_destroy(table);
    release(&l);
    if (!PyErr_Occurred()) return core_text(&text);
    gram_string_free(&text);
    return NULL;
}

static PyMethodDef METHODS[] = {
    {"compare", compare, METH_VARARGS, NULL},
    {"explain", explain, METH_VARARGS, NULL},
    {"learn", learn, METH_VARARGS, NULL},
    {"plan", plan_of, METH_NOARGS, NULL},
    {"fitted", fitted, METH_VARARGS, NULL},
    {"values", values, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot SLOTS[] = {{Py_tp_dealloc, forget}, {Py_tp_methods, METHODS}, {0, NULL}};
static PyType_Spec SPEC = {"gram._core.Learner", sizeof(core_learner), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE, SLOTS};

static PyMethodDef MAKER = {"learner", make_learner, METH_VARARGS, NULL};

int core_learner_ready(PyObject *module)
{
    if (core_add_type(module, &SPEC, &learner_type) < 0) return -1;
    PyObject *maker = PyCFunction_NewEx(&MAKER, module, NULL);
    return maker ? PyModule_AddObject(module, MAKER.ml_name, maker) : -1;
}
