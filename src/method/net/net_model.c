/* Networks as a method of the learner: `gram net` trains one, or several, and says beside it what its tangent kernel predicts. The model keeps the
 * weights, those of the start and the change of the linearised network; its function is what networks of infinite width are. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "method/net/net.h"

enum { MOST_UNITS = 1 << 20, MOST_STEPS = 1000000000, MOST_MEMBERS = 1000 };

static const gram_choice ACTIVATIONS[] = {{"relu", GRAM_ACTIVATION_RELU, NULL, 0, 0},
                                          {"erf", GRAM_ACTIVATION_ERF, NULL, 0, 0},
                                          {"tanh", GRAM_ACTIVATION_TANH, NULL, 0, 0},
                                          {NULL, 0, NULL, 0, 0}};

#define PLACE(field) offsetof(net_settings, field)

static const gram_option OPTIONS[] = {
    {.name = "width",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(width),
     .argument = "M",
     .help = "units of each hidden layer (default 256)",
     .otherwise = "256",
     .least = 1,
     .most = MOST_UNITS,
     .group = "width",
     .elsewhere = "scikit-learn MLPRegressor: hidden_layer_sizes"},
    {.name = "widths",
     .kind = GRAM_OPTION_TEXT,
     .offset = PLACE(widths),
     .argument = "LIST",
     .help = "units of each hidden layer by itself, from the inputs on, e.g. 512,128; their number is the depth",
     .group = "width",
     .elsewhere = "scikit-learn MLPRegressor: hidden_layer_sizes"},
    {.name = "depth",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(depth),
     .argument = "L",
     .help = "hidden layers (default 1)",
     .least = 1,
     .most = NET_LAYERS},
    {.name = "act",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(act),
     .argument = "NAME",
     .help = "the activation: relu (default), erf or tanh",
     .otherwise = "relu",
     .choices = ACTIVATIONS,
     .elsewhere = "scikit-learn activation"},
    {.name = "sw",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(sw),
     .argument = "S",
     .help = "deviation of weights times sqrt(inputs) (default 1.5)",
     .otherwise = "1.5",
     .above = 1,
     .most = 1e6},
    {.name = "sb",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(sb),
     .argument = "S",
     .help = "deviation of biases (default 0.5)",
     .otherwise = "0.5",
     .most = 1e6},
    {.name = "steps",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(steps),
     .argument = "N",
     .help = "steps of gradient descent (default 1000)",
     .otherwise = "1000",
     .least = 1,
     .most = MOST_STEPS,
     .elsewhere = "scikit-learn max_iter"},
    {.name = "rate",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(rate),
     .argument = "R",
     .help = "length of the steps (default auto: half of what is stable)",
     .above = 1,
     .flags = GRAM_OPTION_AUTO,
     .elsewhere = "scikit-learn learning_rate_init"},
    {.name = "momentum",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(momentum),
     .argument = "B",
     .help = "share of the last step in the next, below 1 (default 0)",
     .otherwise = "0",
     .most = 0.999,
     .elsewhere = "scikit-learn momentum"},
    {.name = "batch",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(batch),
     .argument = "B",
     .help = "rows of a step, in random order (default: all)",
     .elsewhere = "scikit-learn batch_size"},
    {.name = "members",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(members),
     .argument = "R",
     .help = "networks with different starts; predictions are their mean, --std their deviation (default 1)",
     .otherwise = "1",
     .least = 1,
     .most = MOST_MEMBERS},
    {.name = "output-scale",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(output_scale),
     .argument = "A",
     .help = "a factor on the output: the larger, the lazier (default 1)",
     .otherwise = "1",
     .above = 1,
     .most = 1e6},
    {.name = "mean-field",
     .kind = GRAM_OPTION_SWITCH,
     .offset = PLACE(mean_field),
     .help = "divide the output by sqrt(M): weights move however wide the network is",
     .otherwise = "no"},
    {.name = "centred",
     .kind = GRAM_OPTION_SWITCH,
     .offset = PLACE(centred),
     .help = "subtract the function at the start, so that training begins at 0",
     .otherwise = "no"},
};

/* ---- the fit ---- */

/* "512,128" to numbers; 0 of them: it is not a list of widths. */
static int64_t read_widths(const char *text, int64_t *layers)
{
    for (int64_t count = 0; count < NET_LAYERS; text++) {
        char *end = NULL;
        const long long units = strtoll(text, &end, 10);
        if (end == text || units < 1 || units > MOST_UNITS) return 0;
        layers[count++] = (int64_t)units;
        text = end;
        if (*text == '\0') return count;
        if (*text != ',') return 0;
    }
    return 0;
}

static gram_status check(gram_learning *learning)
{
    net_settings *own = learning->settings;
    if (!own->widths) {
        if (own->depth == 0) own->depth = 1;
        for (int64_t l = 0; l < own->depth; l++) own->layers[l] = own->width;
        return GRAM_OK;
    }
    const int64_t count = read_widths(own->widths, own->layers);
    if (count == 0)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT,
                                  "Give whole numbers from 1 to 1048576 with commas, at most 64 of them, e.g. 512,128.",
                                  "--widths '%s' is not a list of widths", own->widths);
    if (own->depth > 0 && own->depth != count)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave --depth out: the widths say it.",
                                  "--widths '%s' has %" PRId64 " layers, but --depth is %" PRId64, own->widths, count,
                                  own->depth);
    own->depth = count;
    return GRAM_OK;
}

/* Targets with mean 0 and deviation 1, or one column of 0 and 1 for each class. */
static gram_status prepare_targets(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    net_state *state = learning->own;
    const gram_prepared *data = learning->data;
    const int64_t n = data->n, m = state->outputs;
    TRY(gram_learning_take(learning, n * m, sizeof(double), &state->y));
    TRY(gram_learning_take(learning, m, sizeof(double), &state->mean));
    TRY(gram_learning_take(learning, m, sizeof(double), &state->deviation));
    for (int64_t o = 0; o < m; o++) {
        double squares = 0;
        state->deviation[o] = 1;
        for (int64_t i = 0; i < n && learning->task == GRAM_TASK_CLASSIFICATION; i++)
            state->y[i * m + o] = learning->labels[i] == (double)o;
        if (learning->task == GRAM_TASK_CLASSIFICATION) continue;
        for (int64_t i = 0; i < n; i++) state->mean[o] += data->y[i * m + o] / (double)n;
        for (int64_t i = 0; i < n; i++) {
            const double difference = data->y[i * m + o] - state->mean[o];
            squares += difference * difference / (double)n;
        }
        if (squares > 0) state->deviation[o] = sqrt(squares);
        for (int64_t i = 0; i < n; i++)
            state->y[i * m + o] = (data->y[i * m + o] - state->mean[o]) / state->deviation[o];
    }
done:
    return status;
}

static void set_shape(const net_settings *own, int64_t inputs, net_state *state)
{
    gram_network_options *o = &state->made;
    gram_network_options_init(o, sizeof *o);
    memcpy(state->widths, own->layers, sizeof state->widths);
    o->inputs = inputs;
    o->outputs = state->outputs;
    o->depth = own->depth;
    o->widths = state->widths;
    o->activation = (gram_activation)own->act.value;
    o->sw = own->sw;
    o->sb = own->sb;
    o->scale = own->output_scale / (own->mean_field == 1 ? sqrt((double)own->layers[own->depth - 1]) : 1);
    o->centred = own->centred == 1;
}

/* The numbers that a network learns, and its hidden units. */
static double count_parameters(const gram_network_options *made, double *units)
{
    double parameters = 0, inputs = (double)made->inputs;
    *units = 0;
    for (int64_t l = 0; l < made->depth; l++) {
        parameters += (inputs + 1) * (double)made->widths[l];
        *units += inputs = (double)made->widths[l];
    }
    return parameters + (inputs + 1) * (double)made->outputs;
}

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const net_settings *own = learning->settings;
    const gram_prepared *data = learning->data;
    net_state *state = NULL;
    char words[96];
    if (own->batch > data->n)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave it out to take all of them.",
                                  "--batch %" PRId64 " is more than the %" PRId64 " rows", own->batch, data->n);
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    const int classes = learning->task == GRAM_TASK_CLASSIFICATION;
    state->loss = classes ? GRAM_NETWORK_SOFTMAX : GRAM_NETWORK_SQUARED;
    state->outputs = classes ? learning->classes.count : data->targets;
    set_shape(own, data->d, state);
    TRY(gram_learning_take(learning, own->members, sizeof *state->networks, &state->networks));
    double units = 0;
    const double m = (double)state->outputs, rows = fmin((double)data->n, 2048);
    const double parameters = count_parameters(&state->made, &units);
    const double bytes =
        8 * (parameters * (2 * (double)own->members + 10) + rows * (6 * units + 8 * m + (double)data->d));
    TRY(gram_learning_room(learning, bytes, "Take smaller layers, fewer --members, or more --memory.",
                           "the networks for"));
    const double batch = own->batch > 0 ? (double)own->batch : (double)data->n;
    (void)snprintf(words, sizeof words, "gradient descent, %.0f parameters", parameters);
    gram_learning_plan(learning, words, (size_t)bytes,
                       6e-10 * batch * parameters * (double)own->steps * (2 + (double)own->members),
                       "a network, and itself linearised");
done:
    return status;
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    TRY(prepare_targets(learning));
    TRY(gram_net_train(learning));
    TRY(gram_net_find_limit(learning));
done:
    return status;
}

static void forget(gram_learning *learning)
{
    const net_settings *own = learning->settings;
    net_state *state = learning->own;
    if (!state) return;
    for (int64_t r = 0; r < own->members && state->networks; r++) gram_network_destroy(state->networks[r]);
    gram_network_destroy(state->linear);
    gram_function_release(state->limit);
}

/* ---- the model ---- */

static void keep_shape(gram_keeper *keeper, const net_settings *own, const net_state *state)
{
    double widths[NET_LAYERS];
    for (int64_t l = 0; l < own->depth; l++) widths[l] = (double)own->layers[l];
    if (own->widths)
        gram_keep_array(keeper, "widths", 1, own->depth, widths);
    else
        gram_keep_integer(keeper, "width", own->width);
    gram_keep_integer(keeper, "depth", own->depth);
    gram_keep_text(keeper, "act", gram_activation_name(state->made.activation));
    gram_keep_number(keeper, "sw", own->sw);
    gram_keep_number(keeper, "sb", own->sb);
    gram_keep_number(keeper, "output_scale", state->made.scale);
    gram_keep_integer(keeper, "centred", state->made.centred);
    gram_keep_integer(keeper, "members", own->members);
    gram_keep_integer(keeper, "parameters", gram_network_parameter_count(state->networks[0]));
}

static void keep_curves(gram_keeper *keeper, const net_curves *c)
{
    gram_keep_number(keeper, "loss", c->loss[c->count - 1]);
    gram_keep_number(keeper, "ntk_loss", c->ntk_loss[c->count - 1]);
    gram_keep_number(keeper, "drift", c->drift[c->count - 1]);
    gram_keep_array(keeper, "seen_steps", 1, c->count, c->step);
    gram_keep_array(keeper, "losses", 1, c->count, c->loss);
    gram_keep_array(keeper, "ntk_losses", 1, c->count, c->ntk_loss);
    gram_keep_array(keeper, "drifts", 1, c->count, c->drift);
    gram_keep_array(keeper, "weight_changes", 1, c->count, c->change);
}

/* The weights of all members; of centred ones the starts too, which they need, else that of the first. */
static gram_status keep_weights(gram_learning *learning, gram_keeper *keeper)
{
    gram_status status = keeper->status;
    const net_settings *own = learning->settings;
    const net_state *state = learning->own;
    const int64_t count = gram_network_parameter_count(state->networks[0]);
    const int64_t starts = state->made.centred ? own->members : 1;
    double *weights = NULL, *start = NULL;
    if (status < 0) return status;
    TRY(gram_learning_take(learning, own->members * count, sizeof *weights, &weights));
    TRY(gram_learning_take(learning, starts * count, sizeof *start, &start));
    for (int64_t r = 0; r < own->members; r++) {
        memcpy(weights + r * count, gram_network_parameters(state->networks[r]), (size_t)count * sizeof *weights);
        if (r < starts)
            memcpy(start + r * count, gram_network_start(state->networks[r]), (size_t)count * sizeof *start);
    }
    gram_keep_array(keeper, "weights", own->members, count, weights);
    gram_keep_array(keeper, "start", starts, count, start);
    gram_keep_array(keeper, "tangent", 1, count, gram_network_parameters(state->linear));
    gram_keep_array(keeper, "target_mean", 1, state->outputs, state->mean);
    gram_keep_array(keeper, "target_scale", 1, state->outputs, state->deviation);
    if (state->grid) gram_keep_array(keeper, "functions", NET_GRID, NET_GRID_COLUMNS, state->grid);
    status = keeper->status;
done:
    return status;
}

static gram_status keep(gram_learning *learning)
{
    const net_settings *own = learning->settings;
    const net_state *state = learning->own;
    gram_keeper keeper = gram_keep_begin(learning, state->limit);
    keep_shape(&keeper, own, state);
    gram_keep_integer(&keeper, "steps", own->steps);
    gram_keep_number(&keeper, "rate", state->rate);
    gram_keep_number(&keeper, "momentum", own->momentum);
    gram_keep_integer(&keeper, "batch", own->batch > 0 ? own->batch : learning->data->n);
    keep_curves(&keeper, &state->curves);
    gram_keep_number(&keeper, "weight_change", state->each);
    gram_keep_number(&keeper, "change_norm", state->whole);
    gram_keep_integer(&keeper, "limit_rows", state->limit_rows);
    if (learning->task == GRAM_TASK_CLASSIFICATION) gram_keep_classes(&keeper, &learning->classes);
    return keep_weights(learning, &keeper);
}

/* ---- predictions ---- */

typedef struct net_restored {
    int64_t members, outputs;
    gram_network **networks;
    const double *mean, *deviation;
} net_restored;

static gram_status restore_networks(gram_context *context, gram_predictor *predictor, const net_settings *own,
                                    net_restored *net)
{
    gram_status status = GRAM_OK;
    const gram_model *model = predictor->model;
    net_state shape = {.outputs = net->outputs};
    set_shape(own, gram_points_dimension(gram_function_centres(gram_model_function(model))), &shape);
    for (int64_t r = 0; r < net->members; r++) {
        TRY(gram_network_create(context, &shape.made, &net->networks[r]));
        const int64_t count = gram_network_parameter_count(net->networks[r]);
        const int64_t starts = own->centred ? net->members : 1;
        const double *weights = gram_kept_array(model, "weights", net->members, count);
        const double *start = gram_kept_array(model, "start", starts, count);
        if (!weights || !start) return gram_predictor_damaged(context, predictor, "damaged: weights are missing");
        TRY(gram_network_set(context, net->networks[r], weights + r * count, start + (own->centred ? r * count : 0)));
    }
done:
    return status;
}

/* The units of the layers: one number for all, or one for each. 0: there are none. */
static int restore_layers(const gram_model *model, net_settings *own)
{
    const double depth = gram_kept_number(model, "depth", 0);
    if (!(depth >= 1 && depth <= NET_LAYERS)) return 0;
    own->depth = (int64_t)depth;
    const double *widths = gram_kept_array(model, "widths", 1, own->depth);
    for (int64_t l = 0; l < own->depth; l++) {
        const double units = widths ? widths[l] : gram_kept_number(model, "width", 0);
        if (!(units >= 1 && units <= MOST_UNITS)) return 0;
        own->layers[l] = (int64_t)units;
    }
    return 1;
}

/* A file may hold anything: what is not a network is damaged. */
static gram_status restore(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    const gram_model *model = predictor->model;
    const char *act = gram_kept_text(model, "act");
    net_settings own = {.mean_field = 0};
    net_restored *net = NULL;
    const double members = gram_kept_number(model, "members", 0);
    if (!restore_layers(model, &own) || !(members >= 1 && members <= MOST_MEMBERS) || !act)
        return gram_predictor_damaged(context, predictor, "damaged: its network has no shape");
    for (const gram_choice *c = ACTIVATIONS; c->name; c++)
        if (strcmp(c->name, act) == 0) own.act.value = c->value;
    own.sw = gram_kept_number(model, "sw", NAN);
    own.sb = gram_kept_number(model, "sb", NAN);
    own.output_scale = gram_kept_number(model, "output_scale", NAN);
    own.centred = gram_kept_number(model, "centred", 0) == 1;
    TRY(gram_arena_take(context, &predictor->arena, "predictor", 1, sizeof *net, (void **)&net));
    predictor->own = net;
    net->outputs = gram_function_outputs(gram_model_function(model));
    net->mean = gram_kept_array(model, "target_mean", 1, net->outputs);
    net->deviation = gram_kept_array(model, "target_scale", 1, net->outputs);
    if (!net->mean || !net->deviation)
        return gram_predictor_damaged(context, predictor, "damaged: the scale of its target is missing");
    TRY(gram_arena_take(context, &predictor->arena, "predictor", (int64_t)members, sizeof *net->networks,
                        (void **)&net->networks));
    net->members = (int64_t)members;
    status = restore_networks(context, predictor, &own, net);
    if (status == GRAM_ERROR_ARGUMENT || status == GRAM_ERROR_DATA || status == GRAM_ERROR_OVERFLOW)
        status = gram_predictor_damaged(context, predictor, "damaged: its numbers are not those of a network");
done:
    return status;
}

/* Deviations are those of the members. */
static gram_status name_columns(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    const net_restored *net = predictor->own;
    const gram_predict_options *wish = &predictor->wish;
    gram_columns *columns = &predictor->columns;
    if (!wish->std || wish->latent || wish->interval > 0 || wish->terms || wish->prob || net->members < 2)
        TRY(gram_predictor_refuse(context, predictor, 1,
                                  "It predicts means, and with several --members their deviation with --std.",
                                  net->members < 2 ? "a single network" : "networks"));
    TRY(gram_predictor_means(context, predictor));
    if (!wish->std) return GRAM_OK;
    if (net->outputs > 1)
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, "Train one network for each target.",
                                   "--std is not for networks of several targets");
    columns->std = columns->count;
    TRY(gram_predictor_column(context, predictor, "std", ""));
done:
    return status;
}

static gram_status open_net(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    const int classes = strcmp(gram_model_task(predictor->model), gram_task_name(GRAM_TASK_CLASSIFICATION)) == 0;
    TRY(restore(context, predictor));
    if (!classes) return name_columns(context, predictor);
    TRY(gram_predictor_classes(context, predictor));
    if (predictor->classes.count != ((net_restored *)predictor->own)->outputs)
        return gram_predictor_damaged(context, predictor, "damaged: a network whose outputs are not its classes");
done:
    return status;
}

static void close_net(gram_predictor *predictor)
{
    const net_restored *net = predictor->own;
    for (int64_t r = 0; net && r < net->members; r++) gram_network_destroy(net->networks[r]);
}

static void to_probabilities(int64_t m, double *f)
{
    double most = f[0], sum = 0;
    for (int64_t o = 1; o < m; o++) most = fmax(most, f[o]);
    for (int64_t o = 0; o < m; o++) sum += f[o] = exp(f[o] - most);
    for (int64_t o = 0; o < m; o++) f[o] /= sum;
}

/* Means over the members, of values or probabilities; then the deviation. */
static gram_status evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                            double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const net_restored *net = predictor->own;
    const int64_t n = places->n, m = net->outputs, classes = predictor->classes.count, std = predictor->columns.std;
    double *f = NULL, *sum = NULL, *squares = NULL;
    TRY(gram_take(context, "predict", n * m, sizeof *f, (void **)&f));
    TRY(gram_take(context, "predict", 2 * n * m, sizeof *sum, (void **)&sum));
    squares = sum + n * m;
    memset(sum, 0, (size_t)(2 * n * m) * sizeof *sum);
    for (int64_t r = 0; r < net->members; r++) {
        TRY(gram_network_evaluate(context, net->networks[r], places->points, f, m));
        for (int64_t i = 0; i < n && classes > 0; i++) to_probabilities(m, f + i * m);
        for (int64_t i = 0; i < n * m; i++) { /* Welford's sums */
            const double step = f[i] - sum[i];
            sum[i] += step / (double)(r + 1);
            squares[i] += step * (f[i] - sum[i]);
        }
    }
    if (classes > 0) gram_predictor_put_probabilities(predictor, n, sum, values, ldv);
    for (int64_t i = 0; i < n && classes == 0; i++) {
        for (int64_t o = 0; o < m; o++) values[i * ldv + o] = net->mean[o] + net->deviation[o] * sum[i * m + o];
        if (std >= 0) values[i * ldv + std] = net->deviation[0] * sqrt(squares[i] / (double)(net->members - 1));
    }
done:
    gram_give(context, f);
    gram_give(context, sum);
    return status;
}

/* ---- the report ---- */

static void report_net(gram_report *report)
{
    const char *act = gram_report_text(report, "act");
    gram_report_row(report, "network");
    gram_report_part(report, "width", "width", GRAM_WHOLE);
    gram_report_part(report, "depth", "depth", GRAM_WHOLE);
    gram_report_add(report, ", %s", act ? act : "");
    gram_report_part(report, "sw", "sw", GRAM_FINE);
    gram_report_part(report, "sb", "sb", GRAM_FINE);
    gram_report_part(report, "parameters", "parameters", GRAM_WHOLE);
    if (gram_report_number(report, "output_scale") != 1)
        gram_report_part(report, "output times", "output_scale", GRAM_FINE);
    if (gram_report_number(report, "centred") == 1) gram_report_add(report, ", centred");
    if (gram_report_number(report, "members") > 1) gram_report_part(report, "members", "members", GRAM_WHOLE);
    gram_report_list(report, "  widths", "widths", GRAM_WHOLE);
    gram_report_row(report, "descent");
    gram_report_part(report, "steps", "steps", GRAM_WHOLE);
    gram_report_part(report, "rate", "rate", GRAM_FINE);
    if (gram_report_number(report, "momentum") > 0) gram_report_part(report, "momentum", "momentum", GRAM_FINE);
    if (gram_report_number(report, "batch") < gram_report_number(report, "n"))
        gram_report_part(report, "batch", "batch", GRAM_WHOLE);
    gram_report_row(report, "loss");
    gram_report_part(report, "", "loss", GRAM_FINE);
    gram_report_part(report, "its tangent kernel predicts", "ntk_loss", GRAM_FINE);
    gram_report_row(report, "drift");
    gram_report_part(report, "of the tangent kernel", "drift", GRAM_FINE);
    gram_report_part(report, "of a weight", "weight_change", GRAM_FINE);
    gram_report_part(report, "of all weights", "change_norm", GRAM_FINE);
    gram_report_list(report, "  steps", "seen_steps", GRAM_WHOLE);
    gram_report_list(report, "  losses", "losses", GRAM_FINE);
    gram_report_list(report, "  by the kernel", "ntk_losses", GRAM_FINE);
    gram_report_list(report, "  drift", "drifts", GRAM_ROUGH);
}

static const gram_verb VERB = {
    .name = "net",
    .summary = "a small network beside its tangent kernel",
    .operands = "DATA",
    .about = "Trains a fully connected network by gradient descent, and beside it the same network with its tangent "
             "kernel frozen:\n"
             "what the kernel predicts for it. The wider the network, the less its kernel drifts, and the nearer the "
             "two are.\n"
             "Numbers are learnt by the squared loss, standardised, so that 1 is the loss of their mean; classes by "
             "cross entropy.\n"
             "The kernel of the report is that of infinite width. -o keeps the network, for `gram predict`.\n",
    .examples = "  gram net data.csv --width 512 --depth 2 --act relu -o net.gram --plot net.svg\n"
                "  gram net data.csv --act tanh --members 8 -o net.gram && gram predict net.gram new.csv --std\n"
                "  gram net data.csv --width 4096 --centred --json\n"
                "  gram net data.csv --widths 512,128,32\n"
                "  gram net data.csv --mean-field --steps 5000\n",
    .out = "write the model to FILE",
    .out_is_model = 1,
    .pictures = "descent",
    .plot = "draw losses, drift and, of one feature, functions to FILE (.svg, .png, .pdf)",
};

static const gram_kept_words WORDS[] = {{"act", "relu erf tanh"}, {NULL, NULL}};

const gram_method gram_method_net = {
    .name = "net",
    .title = "a network",
    .formula = "z_l = c_l W_l act(z_(l-1)) + e_l b_l for each layer, f = the last, trained by gradient descent on the "
               "mean loss;\n"
               "beside it its tangent kernel, H(x, y) = grad f(x) . grad f(y)",
    .tasks = 1u << GRAM_TASK_REGRESSION | 1u << GRAM_TASK_CLASSIFICATION,
    .refuses = "weights",
    .words = WORDS,
    .verb = &VERB,
    .python = {[GRAM_TASK_REGRESSION] = "NetworkRegressor", [GRAM_TASK_CLASSIFICATION] = "NetworkClassifier"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(net_settings),
    .check = check,
    .plan = plan,
    .fit = fit,
    .keep = keep,
    .forget = forget,
    .open = open_net,
    .evaluate = evaluate,
    .close = close_net,
    .report = report_net,
};
