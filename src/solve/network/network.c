/* Networks as objects: layers, places of the weights, random starts, copies. */
#include "solve/network/network.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sized_struct.h"
#include "points/functionals.h"
#include <gram/random.h>
#include <gram/text.h>

enum { MOST_WIDTH = 1 << 24 };

static const uint64_t STREAM = 0x6e6574776f000000u; /* "netwo": the names of this use of the seed */

void gram_network_options_init(gram_network_options *options, size_t size)
{
    const gram_network_options defaults = {
        .size = sizeof defaults, .outputs = 1, .depth = 1, .sw = 1, .sb = 0, .scale = 1};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

/* ---- checks ---- */

static gram_status check_width(gram_context *context, const char *name, int64_t layer, int64_t width)
{
    gram_status status = GRAM_OK;
    char place[32] = "";
    if (layer >= 0) (void)snprintf(place, sizeof place, "[%" PRId64 "]", layer);
    FAIL_IF(width < 1 || width > MOST_WIDTH, context, GRAM_ERROR_ARGUMENT,
            "network_create: %s%s = %" PRId64 " is not a number of units from 1 to %d", name, place, width,
            (int)MOST_WIDTH);
done:
    return status;
}

static gram_status check_number(gram_context *context, const char *name, double value, int above)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    FAIL_IF(!isfinite(value) || value < 0 || (above && value == 0), context, GRAM_ERROR_ARGUMENT,
            "network_create: %s = %s is not a number %s 0", name, gram_number_format(value, shown),
            above ? "above" : "from");
done:
    return status;
}

static gram_status check(gram_context *context, const gram_network_options *o)
{
    gram_status status = GRAM_OK;
    FAIL_IF(o->depth < 1 || o->depth > GRAM_NETWORK_DEPTH, context, GRAM_ERROR_ARGUMENT,
            "network_create: depth = %" PRId64 " is not a number of hidden layers from 1 to %d", o->depth,
            (int)GRAM_NETWORK_DEPTH);
    FAIL_IF(!o->widths, context, GRAM_ERROR_ARGUMENT, "network_create: widths is NULL");
    TRY(check_width(context, "inputs", -1, o->inputs));
    TRY(check_width(context, "outputs", -1, o->outputs));
    for (int64_t l = 0; l < o->depth; l++) TRY(check_width(context, "widths", l, o->widths[l]));
    FAIL_IF(!gram_activation_name(o->activation), context, GRAM_ERROR_ARGUMENT,
            "network_create: activation = %d is not known", (int)o->activation);
    FAIL_IF(o->parameterisation != GRAM_PARAMETERISATION_NTK && o->parameterisation != GRAM_PARAMETERISATION_STANDARD,
            context, GRAM_ERROR_ARGUMENT, "network_create: parameterisation = %d is not known",
            (int)o->parameterisation);
    TRY(check_number(context, "sw", o->sw, 1));
    TRY(check_number(context, "sb", o->sb, 0));
    TRY(check_number(context, "fan", o->fan, 0));
    TRY(check_number(context, "scale", o->scale, 1));
done:
    return status;
}

/* ---- layers ---- */

/* Places one layer behind the others; 0 if there would be too many weights. */
static int add_layer(gram_network *net, int64_t in, int64_t out, double fan)
{
    const gram_network_options *o = &net->options;
    const int last = net->count == o->depth, ntk = o->parameterisation == GRAM_PARAMETERISATION_NTK;
    const double scale = last ? o->scale : 1;
    int64_t weights;
    if (!gram_size_multiply(in, out, &weights) || weights > INT64_MAX / 64 - net->parameters) return 0;
    net->layers[net->count++] = (gram_layer){.in = in,
                                             .out = out,
                                             .weights = net->parameters,
                                             .biases = net->parameters + weights,
                                             .units = net->units,
                                             .factor = ntk ? scale * o->sw / sqrt(fan) : scale,
                                             .bias = ntk ? scale * o->sb : scale};
    net->parameters += weights + out;
    if (!last) net->units += out;
    return 1;
}

static gram_status make_layers(gram_context *context, gram_network *net)
{
    gram_status status = GRAM_OK;
    const gram_network_options *o = &net->options;
    for (int64_t l = 0; l <= o->depth; l++) {
        const int64_t in = l == 0 ? o->inputs : o->widths[l - 1], out = l == o->depth ? o->outputs : o->widths[l];
        FAIL_IF(!add_layer(net, in, out, l == 0 ? o->fan : (double)in), context, GRAM_ERROR_OVERFLOW,
                "network_create: more weights than can be addressed");
    }
done:
    return status;
}

/* Number i of theta is number i of the stream. */
static void draw(const gram_network *net, uint64_t seed)
{
    const gram_network_options *o = &net->options;
    gram_random_normal((gram_random){seed, STREAM + o->number}, 0, net->parameters, net->start);
    for (int64_t l = 0; l < net->count && o->parameterisation == GRAM_PARAMETERISATION_STANDARD; l++) {
        const gram_layer *layer = &net->layers[l];
        const double deviation = o->sw / sqrt(l == 0 ? o->fan : (double)layer->in);
        for (int64_t i = layer->weights; i < layer->biases; i++) net->start[i] *= deviation;
        for (int64_t i = 0; i < layer->out; i++) net->start[layer->biases + i] *= o->sb;
    }
    memcpy(net->theta, net->start, (size_t)net->parameters * sizeof *net->theta);
}

/* ---- the object ---- */

/* Without weights: for them there is room. */
static gram_status make(gram_context *context, const gram_network_options *options, gram_network **network)
{
    gram_status status = GRAM_OK;
    gram_network *made = NULL;
    TRY(gram_take(context, "network", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->options = *options;
    memcpy(made->widths, options->widths, (size_t)options->depth * sizeof *made->widths);
    made->options.widths = made->widths;
    if (made->options.fan == 0) made->options.fan = (double)options->inputs;
    TRY(make_layers(context, made));
    TRY(gram_take(context, "network: weights", made->parameters, sizeof(double), (void **)&made->theta));
    TRY(gram_take(context, "network: weights", made->parameters, sizeof(double), (void **)&made->start));
    *network = made;
    made = NULL;
done:
    gram_network_destroy(made);
    return status;
}

gram_status gram_network_create(gram_context *context, const gram_network_options *options, gram_network **network)
{
    gram_status status = GRAM_OK;
    gram_network_options o;
    if (!context || !network) return GRAM_ERROR_ARGUMENT;
    *network = NULL;
    gram_network_options_init(&o, sizeof o);
    TRY(gram_sized_read(context, "network_create", "options", "gram_network_options", options, &o, sizeof o));
    TRY(check(context, &o));
    TRY(make(context, &o, network));
    draw(*network, context->seed);
done:
    return status;
}

void gram_network_destroy(gram_network *network)
{
    if (!network) return;
    gram_memory *memory = network->memory;
    gram_memory_give(memory, network->theta);
    gram_memory_give(memory, network->start);
    gram_memory_give(memory, network);
    gram_memory_release(memory);
}

gram_status gram_network_copy(gram_context *context, const gram_network *network, gram_network **copy)
{
    gram_status status = GRAM_OK;
    if (!context || !copy) return GRAM_ERROR_ARGUMENT;
    *copy = NULL;
    FAIL_IF(!network, context, GRAM_ERROR_ARGUMENT, "network_copy: network is NULL");
    TRY(make(context, &network->options, copy));
    (*copy)->linear = network->linear;
    memcpy((*copy)->theta, network->theta, (size_t)network->parameters * sizeof(double));
    memcpy((*copy)->start, network->start, (size_t)network->parameters * sizeof(double));
done:
    return status;
}

gram_status gram_network_linearise(gram_context *context, const gram_network *network, gram_network **linear)
{
    gram_status status = GRAM_OK;
    TRY(gram_network_copy(context, network, linear));
    if (network->linear) goto done;
    (*linear)->linear = 1;
    for (int64_t i = 0; i < network->parameters; i++) (*linear)->theta[i] -= network->start[i];
done:
    return status;
}

const gram_network_options *gram_network_get_options(const gram_network *network)
{
    return &network->options;
}

int64_t gram_network_parameter_count(const gram_network *network)
{
    return network->parameters;
}

const double *gram_network_parameters(const gram_network *network)
{
    return network->theta;
}

const double *gram_network_start(const gram_network *network)
{
    return network->start;
}

static gram_status check_weights(gram_context *context, const char *name, int64_t count, const double *weights)
{
    gram_status status = GRAM_OK;
    for (int64_t i = 0; i < count; i++)
        FAIL_IF(!isfinite(weights[i]), context, GRAM_ERROR_DATA, "network_set: %s[%" PRId64 "] is not finite", name, i);
done:
    return status;
}

gram_status gram_network_set(gram_context *context, gram_network *network, const double *theta, const double *start)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!network || !theta, context, GRAM_ERROR_ARGUMENT, "network_set: %s is NULL",
            !network ? "network" : "theta");
    TRY(check_weights(context, "theta", network->parameters, theta));
    if (start) TRY(check_weights(context, "start", network->parameters, start));
    memcpy(network->theta, theta, (size_t)network->parameters * sizeof *theta);
    if (start) memcpy(network->start, start, (size_t)network->parameters * sizeof *start);
done:
    return status;
}

void gram_network_drift(const gram_network *network, double *each, double *whole)
{
    double squares = 0;
    for (int64_t i = 0; i < network->parameters; i++) {
        const double change = network->theta[i] - (network->linear ? 0 : network->start[i]);
        squares += change * change;
    }
    *whole = sqrt(squares);
    *each = sqrt(squares / (double)network->parameters);
}

gram_status gram_network_check_points(gram_context *context, const char *function, const gram_network *network,
                                      const gram_points *x, const char *name)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!network, context, GRAM_ERROR_ARGUMENT, "%s: network is NULL", function);
    FAIL_IF(!x, context, GRAM_ERROR_ARGUMENT, "%s: %s is NULL", function, name);
    TRY(gram_points_must_be_plain(context, function, x));
    FAIL_IF(x->d != network->options.inputs, context, GRAM_ERROR_DIMENSION,
            "%s: %s has %" PRId64 " columns, the network has %" PRId64 " inputs", function, name, x->d,
            network->options.inputs);
done:
    return status;
}
