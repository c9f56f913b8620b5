/* gram's side of the benchmark of networks: steps of gradient descent on a network of one hidden layer, timed, in a fresh process.
 *
 *     bench_net ACT N D WIDTH BATCH STEPS      BATCH 0: all rows; seconds are those of one step
 *
 * Weights are given, so that both sides have the same. Steps of batches are so short that the weights stay what they were, since the sides
 * shuffle the rows differently: the check is then the mean loss of a pass. Prints one line of JSON as bench_gram does. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/gram.h>

#include "measure.h"

enum { SEED_X = 1, SEED_Y = 2, SEED_WEIGHTS = 7 };

static gram_context *context;

static void must(gram_status status)
{
    if (status < 0) fail(context ? gram_context_message(context) : gram_status_text(status));
}

static gram_activation activation_of(const char *name)
{
    for (int act = GRAM_ACTIVATION_RELU; act <= GRAM_ACTIVATION_TANH; act++)
        if (strcmp(name, gram_activation_name((gram_activation)act)) == 0) return (gram_activation)act;
    fail("bench_net: ACT is relu, erf or tanh");
}

/* Standard parameters: W_1 and W_2 divided by the roots of their inputs, biases 0. */
static gram_network *make_network(const char *act, int64_t d, int64_t width)
{
    gram_network_options o;
    gram_network *network = NULL;
    gram_network_options_init(&o, sizeof o);
    o.inputs = d;
    o.widths = &width;
    o.activation = activation_of(act);
    o.parameterisation = GRAM_PARAMETERISATION_STANDARD;
    must(gram_network_create(context, &o, &network));
    const int64_t count = gram_network_parameter_count(network), first = width * d;
    double *theta = random_numbers(SEED_WEIGHTS, count);
    for (int64_t i = 0; i < first; i++) theta[i] /= sqrt((double)d);
    for (int64_t i = 0; i < width; i++) theta[first + i] = 0;
    for (int64_t i = 0; i < width; i++) theta[first + width + i] /= sqrt((double)width);
    theta[count - 1] = 0;
    must(gram_network_set(context, network, theta, theta));
    free(theta);
    return network;
}

/* A pass to warm up, as the peer has one, then the steps. */
static void descend(const char *act, int64_t n, int64_t d, int64_t width, int64_t batch, int64_t steps)
{
    double *x = random_numbers(SEED_X, n * d), *y = random_numbers(SEED_Y, n), *losses;
    const int64_t pass = batch > 0 ? (n + batch - 1) / batch : 1;
    gram_network *network = make_network(act, d, width);
    gram_points *points = NULL;
    gram_descent *descent = NULL;
    gram_descent_options o;
    gram_descent_options_init(&o, sizeof o);
    o.rate = batch > 0 ? 1e-12 : 1e-3;
    o.batch = batch;
    losses = calloc((size_t)pass, sizeof *losses);
    if (!losses) fail("no memory");
    must(gram_points_create_f64(context, n, d, x, d, &points));
    must(gram_descent_create(context, network, points, y, 1, &o, &descent));
    must(gram_descent_run(context, descent, pass, losses));
    const int64_t memory = memory_resident();
    const double processor = processor_seconds(), start = clock_seconds();
    must(gram_descent_run(context, descent, steps, NULL));
    printf("{\"seconds\": %.9f, \"cpu_seconds\": %.9f, \"peak_bytes\": %lld, ",
           (clock_seconds() - start) / (double)steps, (processor_seconds() - processor) / (double)steps,
           (long long)(memory_peak() - memory));
    for (int64_t i = 1; i < pass; i++) losses[0] += losses[i];
    losses[0] /= (double)pass;
    if (batch > 0)
        print_check(losses, 1, 1);
    else
        print_check(gram_network_parameters(network), gram_network_parameter_count(network), 1);
    printf("}\n");
    gram_descent_destroy(descent);
    gram_points_release(points);
    gram_network_destroy(network);
    free(losses);
    free(x);
    free(y);
}

int main(int argc, char **argv)
{
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.threads = thread_count();
    must(gram_context_create(&options, &context));
    if (argc != 7) fail("bench_net ACT N D WIDTH BATCH STEPS");
    descend(argv[1], parse_count(argv[2]), parse_count(argv[3]), parse_count(argv[4]), parse_count(argv[5]),
            parse_count(argv[6]));
    gram_context_destroy(context);
    return 0;
}
