/* Feature maps as a method of the learner: features of the rows and of new ones, and the verb `gram features`. */
#include <inttypes.h>
#include <math.h>

#include "features/feature_map.h"
#include "method/further_rows.h"
#include "method/method.h"
#include "solve/landmarks/landmark_choice.h"

typedef struct features_settings {
    int64_t fourier, nystrom, binning, neural; /* 0: not asked for */
    int64_t width;                             /* of binning; 0: by the rows */
    double error;                              /* of fourier, for all pairs; NaN: not asked for */
    gram_chosen frequencies;                   /* gram_frequencies */
    int explicit_ones;
    const char *landmarks; /* NULL: not given */
    int64_t degree;        /* -1: by the tolerance */
    double tolerance;
} features_settings;

typedef struct features_state {
    gram_features_options options;
    gram_points *landmarks; /* that were given */
    gram_features *map;
    gram_function *function; /* what a model must have: it is 0, and holds the kernel */
} features_state;

enum { MOST_DENSE = 20000 }; /* columns of sparse features that are written with their zeros */

#define PLACE(field) offsetof(features_settings, field)

static const gram_option OPTIONS[] = {
    {.name = "explicit",
     .kind = GRAM_OPTION_SWITCH,
     .offset = PLACE(explicit_ones),
     .help = "monomials of finite-rank kernels and power series: linear, poly, monomial, expdot, rbf (default)",
     .group = "map"},
    {.name = "fourier",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(fourier),
     .argument = "D",
     .help = "D random Fourier features of a stationary kernel, cosines and sines",
     .least = 2,
     .most = 1 << 30,
     .group = "map",
     .elsewhere = "scikit-learn RBFSampler: n_components"},
    {.name = "nystrom",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(nystrom),
     .argument = "M",
     .help = "features from at most M landmarks (any kernel)",
     .least = 1,
     .most = 32768,
     .group = "map",
     .elsewhere = "scikit-learn Nystroem: n_components"},
    {.name = "binning",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(binning),
     .argument = "P",
     .help = "bins of P random grids, sparse: laplace1, and products over columns of convex kernels",
     .least = 1,
     .most = 16384,
     .group = "map"},
    {.name = "width",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(width),
     .argument = "W",
     .help = "of binning: places of each grid, a power of two up to 65536 (default: at least as many as rows)",
     .least = 2,
     .most = 65536},
    {.name = "neural",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(neural),
     .argument = "D",
     .help = "D random units of a network with one hidden layer: nngp(depth=1)",
     .least = 1,
     .most = 1 << 30,
     .group = "map"},
    {.name = "error",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(error),
     .argument = "E",
     .help = "as many Fourier features as make |k - z.z| <= E k(0) for all pairs in the box of the rows, with "
             "probability 0.95",
     .least = 0,
     .most = 1,
     .above = 1,
     .group = "map"},
    GRAM_FREQUENCIES_OPTION(features_settings),
    GRAM_LANDMARKS_OPTION(features_settings),
    {.name = "degree",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(degree),
     .argument = "N",
     .help = "of explicit features: end power series at degree N (default: by --tolerance)",
     .otherwise = "-1",
     .least = -1,
     .most = 10000},
    {.name = "tolerance",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(tolerance),
     .argument = "T",
     .help = "of explicit features: the error on the diagonal of K, over its largest entry (default 1e-6)",
     .otherwise = "1e-6",
     .least = 0,
     .most = 1,
     .above = 1},
};

/* ---- the fit ---- */

static gram_status check(gram_learning *learning)
{
    const features_settings *own = learning->settings;
    const char *other = own->fourier > 0   ? "--fourier"
                        : own->nystrom > 0 ? "--nystrom"
                        : own->binning > 0 ? "--binning"
                        : own->neural > 0  ? "--neural"
                                           : NULL;
    const char *given = gram_given_text(learning, "degree")      ? "--degree"
                        : gram_given_text(learning, "tolerance") ? "--tolerance"
                                                                 : NULL;
    if (other && given)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave one of them out.",
                                  "%s is for explicit features, not for %s", given, other);
    if (own->landmarks && own->nystrom == 0)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Add --nystrom M.", "--landmarks is for --nystrom");
    if (own->width > 0 && own->binning == 0)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Add --binning P.", "--width is for --binning");
    if (own->width & (own->width - 1))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Give 64, 128, 256 or the like.",
                                  "--width %" PRId64 " is not a power of two", own->width);
    if (gram_given_text(learning, "frequencies") && own->fourier == 0)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Add --fourier D.", "--frequencies is for --fourier");
    if (own->fourier % 2 != 0)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Give an even number.",
                                  "--fourier %" PRId64 " is odd: each frequency has a cosine and a sine", own->fourier);
    return GRAM_OK;
}

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const features_settings *own = learning->settings;
    const double n = (double)learning->n, m = (double)own->nystrom;
    features_state *state = NULL;
    TRY(gram_learning_check_landmarks(learning, "--nystrom ", own->nystrom));
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    gram_features_options_init(&state->options, sizeof state->options);
    state->options.kind = own->fourier > 0 || !isnan(own->error) ? GRAM_FEATURES_FOURIER
                          : own->nystrom > 0                     ? GRAM_FEATURES_NYSTROM
                          : own->binning > 0                     ? GRAM_FEATURES_BINNING
                          : own->neural > 0                      ? GRAM_FEATURES_NEURAL
                                                                 : GRAM_FEATURES_EXPLICIT;
    state->options.dimension = own->fourier + own->nystrom + own->binning + own->neural; /* one of them */
    state->options.width = own->width;
    state->options.frequencies = (gram_frequencies)own->frequencies.value;
    state->options.degree = own->degree;
    state->options.tolerance = own->tolerance;
    const double bytes =
        own->nystrom > 0 ? 16 * n + 8 * 4096 * m + gram_landmark_set_bytes(learning->n, learning->data->d, own->nystrom)
                         : 16 * n;
    TRY(gram_learning_room(learning, bytes, "Use fewer landmarks, fewer rows, or more --memory.", "the features of"));
    gram_learning_plan(learning, gram_features_kind_name(state->options.kind), (size_t)bytes, 1e-9 * n * (m * m + 100),
                       "as asked");
done:
    return status;
}

static gram_status explain(gram_learning *learning, gram_status status)
{
    const features_settings *own = learning->settings;
    if (status >= 0 || gram_context_advice(learning->context)[0]) return status;
    if (status == GRAM_ERROR_UNSUPPORTED)
        return gram_advise(learning->context, GRAM_ERROR_ARGUMENT,
                           own->fourier > 0 || own->binning > 0 || !isnan(own->error)
                               ? "Use --nystrom M, which is for any kernel."
                               : "Use --fourier D if the kernel is stationary, or --nystrom M.");
    if (status == GRAM_ERROR_ARGUMENT)
        return gram_advise(
            learning->context, status,
            "Ask for less with --tolerance T or --degree N, use fewer columns, --fourier D or --nystrom M.");
    return status;
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    features_state *state = learning->own;
    TRY(gram_learning_resolve(learning));
    TRY(gram_learning_read_landmarks(learning, ((const features_settings *)learning->settings)->landmarks,
                                     &state->options.landmark_rule, &state->landmarks));
    state->options.landmarks = state->landmarks;
    if (!isnan(((const features_settings *)learning->settings)->error))
        status = gram_features_dimension(learning->context, learning->kernel, learning->points,
                                         ((const features_settings *)learning->settings)->error, 0.05,
                                         &state->options.dimension);
    if (status < 0) return explain(learning, status);
    status = gram_features_create(learning->context, learning->kernel, learning->data->d, learning->points,
                                  &state->options, &state->map);
    if (status < 0) return explain(learning, status);
    TRY(gram_features_holder(learning->context, learning->kernel, learning->data->d, learning->data->x,
                             &state->function));
done:
    return status;
}

static void forget(gram_learning *learning)
{
    features_state *state = learning->own;
    if (!state) return;
    gram_points_release(state->landmarks);
    gram_features_destroy(state->map);
    gram_function_release(state->function);
}

/* Straight to where they belong: there may be many columns. */
static gram_status values(gram_learning *learning, double *out, int64_t ldv)
{
    const features_state *state = learning->own;
    return gram_features_transform(learning->context, state->map, learning->data->n, learning->data->x,
                                   learning->data->d, out, ldv);
}

/* ---- the model ---- */

static gram_status keep(gram_learning *learning)
{
    const features_state *state = learning->own;
    gram_keeper keeper = gram_keep_begin(learning, state->function);
    gram_keep_features(&keeper, state->map);
    gram_keep_tuning(&keeper, learning, NULL);
    return keeper.status;
}

static gram_status open_features(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    gram_features *map = NULL;
    TRY(gram_features_of_model(context, predictor->model, &map));
    predictor->own = map;
    if (map->type->sparse && map->report.dimension > MOST_DENSE)
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT,
                                   "Write them to a file that ends in .npz: gram features ... -o Z.npz.",
                                   "these features have %" PRId64 " columns, nearly all of them 0",
                                   map->report.dimension);
    TRY(gram_predictor_coordinates(context, predictor, "z", map->report.dimension));
done:
    return status;
}

static void close_features(gram_predictor *predictor)
{
    gram_features_destroy(predictor->own);
}

static gram_status evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                            double *values, int64_t ldv)
{
    return gram_features_transform(context, predictor->own, places->n, places->x, places->d, values, ldv);
}

static void report_features(gram_report *report)
{
    gram_report_tuning(report);
    gram_report_row(report, "features");
    gram_report_add(report, "%s",
                    gram_report_text(report, "description") ? gram_report_text(report, "description") : "");
    gram_report_row(report, "error");
    if (gram_report_number(report, "exact") == 1) {
        gram_report_add(report, "none but rounding");
    } else {
        gram_report_part(report, "", "error_estimate", GRAM_ROUGH);
        gram_report_add(report,
                        isnan(gram_report_number(report, "trace_error")) && isnan(gram_report_number(report, "degree"))
                            ? ", the root mean square over pairs of rows"
                            : " at most, over all pairs of rows");
        gram_report_part(report, "of the trace", "trace_error", GRAM_ROUGH);
    }
}

static const gram_verb VERB = {
    .name = "features",
    .summary = "explicit features of a kernel: z(x).z(y) is k(x, y), or near it",
    .operands = "DATA",
    .about =
        "Writes features z of the rows of a table whose inner products are the kernel, exactly or nearly. With "
        "--explicit (the\n"
        "default) they are the monomials of linear, poly, monomial and what sums, products and powers make of them, "
        "and the first\n"
        "terms of the series of expdot, exp and rbf, as many as --tolerance or --degree say. --fourier draws "
        "frequencies of a\n"
        "stationary kernel, --binning grids of laplace1 and its like (sparse: -o FILE.npz), --nystrom takes rows as "
        "landmarks. All columns are used, as they are unless --scale; free "
        "numbers of\n"
        "the kernel are set by the median heuristic. -o writes them, as an array of NumPy if FILE ends in .npy, as "
        "sparse "
        "rows of scipy (CSR) if in .npz; with "
        "--model the\n"
        "map is kept, and `gram predict` gives new rows theirs.\n",
    .examples =
        "  gram features data.csv --kernel 'poly(m=2,c=1)' -o Z.npy\n"
        "  gram features data.csv --kernel 'rbf(ell=2)' --tolerance 1e-3 -o Z.csv\n"
        "  gram features data.csv --kernel 'matern(nu=1.5,ell=1)' --fourier 2000 --seed 1 -o Z.npy --model z.gram\n",
    .out = "write the features to FILE: .npy, .npz (scipy's CSR), or else CSV",
    .plot = "draw errors of inner products as the number of features grows: .svg, .png or .pdf",
    .pictures = "convergence",
};

const gram_method gram_method_features = {
    .name = "feature-map",
    .title = "feature map",
    .formula =
        "z(x)'z(y) is about k(x, y):  fourier  sqrt(2 k(0)/D) [cos(w.x), sin(w.x)], w of the kernel's spectral law;\n"
        "neural  (sb, sw act(w.x + b)/sqrt(D));  binning  sqrt(k(0)/P) at the bins of P random grids;  nystrom  L^-1 "
        "k_z(x), K_zz = L L';  explicit  monomials and the like, up to a degree",
    .tasks = 1u << GRAM_TASK_TRANSFORM,
    .refuses = "weights",
    .kernel = "rbf",
    .unscaled = 1,
    .verb = &VERB,
    .python = {[GRAM_TASK_TRANSFORM] = "FeatureMap"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(features_settings),
    .check = check,
    .plan = plan,
    .fit = fit,
    .keep = keep,
    .values = values,
    .forget = forget,
    .open = open_features,
    .evaluate = evaluate,
    .close = close_features,
    .report = report_features,
};

gram_status gram_features_model(gram_context *context, const gram_features *features, gram_preparation *preparation,
                                int64_t n, gram_model **model)
{
    gram_status status = GRAM_OK;
    double *origin = NULL;
    gram_function *function = NULL;
    if (!context || !features || !model) return GRAM_ERROR_ARGUMENT;
    *model = NULL;
    TRY(gram_take(context, "features_model", features->d, sizeof *origin, (void **)&origin));
    for (int64_t l = 0; l < features->d; l++) origin[l] = 0;
    TRY(gram_features_holder(context, features->kernel, features->d, origin, &function));
    gram_keeper keeper = gram_keep_fit(context, &gram_method_features, GRAM_TASK_TRANSFORM, preparation, function, n);
    gram_keep_features(&keeper, features);
    TRY(gram_keep_end(&keeper, model));
done:
    gram_function_release(function);
    gram_give(context, origin);
    return status;
}
