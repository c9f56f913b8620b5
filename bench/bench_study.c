/* Bayesian optimisation on problems whose least value is known: the same as bench/optimize/problems.py, a line of CSV for each
 * run, or the seconds of one proposal with 200 evaluations.
 *
 *     bench_study PROBLEM[,PROBLEM...] FIRST LAST     seeds FIRST to LAST
 *     bench_study seconds                             of three proposals, each learnt from nothing, and of the next
 *     bench_study proposal                            of one, as a line of JSON
 *
 * The regret is the function without noise at the point that the study recommends, less the least value. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/gram.h>

#include "measure.h"

enum { MOST = 30, TIMED = 200 };
static const double PI = 3.14159265358979323846;

typedef struct problem {
    const char *name;
    int64_t d, budget;
    double least, noise, lower, upper;
    double (*value)(const double *x);
} problem;

static double branin(const double *u)
{
    const double x = -5 + 15 * u[0], y = 15 * u[1];
    const double bend = y - 5.1 / (4 * PI * PI) * x * x + 5 / PI * x - 6;
    return bend * bend + 10 * (1 - 1 / (8 * PI)) * cos(x) + 10;
}

static double hartmann(const double *x)
{
    static const double a[4][6] = {
        {10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, 0.05, 10, 0.1, 14}};
    static const double p[4][6] = {{.1312, .1696, .5569, .0124, .8283, .5886},
                                   {.2329, .4135, .8307, .3736, .1004, .9991},
                                   {.2348, .1451, .3522, .2883, .3047, .6650},
                                   {.4047, .8828, .8732, .5743, .1091, .0381}};
    static const double c[4] = {1, 1.2, 3, 3.2};
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        double form = 0;
        for (int l = 0; l < 6; l++) form += a[i][l] * (x[l] - p[i][l]) * (x[l] - p[i][l]);
        sum -= c[i] * exp(-form);
    }
    return sum;
}

static double ackley(const double *x)
{
    double squares = 0, waves = 0;
    for (int l = 0; l < 5; l++) {
        squares += x[l] * x[l] / 5;
        waves += cos(2 * PI * x[l]) / 5;
    }
    return 20 + exp(1) - 20 * exp(-0.2 * sqrt(squares)) - exp(waves);
}

static double sphere(const double *x)
{
    double sum = 0;
    for (int l = 0; l < 30; l++) sum += (x[l] - 3 * sin(l + 1)) * (x[l] - 3 * sin(l + 1));
    return sum;
}

/* place, rate, count, level */
static double mixed(const double *x)
{
    static const double base[] = {1.0, 0.3, 0.5};
    const double place = x[0] - 0.2 - 0.05 * x[2], rate = log10(x[1]) + 2.5 + 0.3 * x[3];
    return 10 * place * place + rate * rate + 0.3 * fabs(x[2] - 7) + 0.5 * sin(2 * x[2] + x[3]) + base[(int)x[3]];
}

/* place and rate can be right for every count and level. */
static double mixed_least(void)
{
    static const double base[] = {1.0, 0.3, 0.5};
    double least = INFINITY;
    for (int count = 1; count <= 12; count++)
        for (int level = 0; level < 3; level++)
            least = fmin(least, 0.3 * abs(count - 7) + 0.5 * sin(2 * count + level) + base[level]);
    return least;
}

static const problem PROBLEMS[] = {
    {"branin", 2, 40, 0.39788735772973816, 0, 0, 1, branin},
    {"noisy-branin", 2, 100, 0.39788735772973816, 2, 0, 1, branin},
    {"mixed", 4, 100, 0, 0, 0, 1, mixed},
    {"ackley5", 5, 100, 0, 0, -32.768, 32.768, ackley},
    {"hartmann6", 6, 100, -3.3223680114155, 0, 0, 1, hartmann},
    {"sphere30", 30, 100, 0, 0, -5, 5, sphere},
};

static void must(gram_context *context, gram_status status)
{
    if (status >= 0) return;
    fprintf(stderr, "bench_study: %s\n", gram_context_message(context));
    exit(1);
}

static gram_study *make_study(gram_context *context, const problem *p, uint64_t seed)
{
    static const char *const levels[] = {"a", "b", "c"};
    const gram_variable of_mixed[] = {{"place", GRAM_VARIABLE_REAL, 0, 1, 0, NULL},
                                      {"rate", GRAM_VARIABLE_LOG, 1e-4, 1, 0, NULL},
                                      {"count", GRAM_VARIABLE_INTEGER, 1, 12, 0, NULL},
                                      {"level", GRAM_VARIABLE_CATEGORY, 0, 0, 3, levels}};
    char names[MOST][8];
    gram_variable variables[MOST];
    gram_study_options options;
    gram_study *study;
    for (int64_t l = 0; l < p->d; l++) {
        (void)snprintf(names[l], sizeof names[l], "x%d", (int)l + 1);
        variables[l] = (gram_variable){.name = names[l], .lower = p->lower, .upper = p->upper};
    }
    gram_study_options_init(&options, sizeof options);
    options.seed = seed;
    must(context, gram_study_create(context, p->d, p->value == mixed ? of_mixed : variables, &options, &study));
    return study;
}

static void run(gram_context *context, const problem *p, uint64_t seed)
{
    const double begin = clock_seconds();
    gram_study *study = make_study(context, p, seed);
    double x[MOST], noise;
    gram_proposal proposal = {.size = sizeof proposal};
    for (int64_t i = 0; i < p->budget; i++) {
        must(context, gram_study_ask(context, study, x, &proposal));
        gram_random_normal((gram_random){seed, 77}, (uint64_t)i, 1, &noise);
        must(context, gram_study_tell(context, study, proposal.trial, p->value(x) + p->noise * noise, NULL));
    }
    must(context, gram_study_recommend(context, study, x, NULL, NULL));
    printf("%s,gram,%d,%d,%.6g,%.1f\n", p->name, (int)seed, (int)p->budget,
           p->value(x) - (p->value == mixed ? mixed_least() : p->least), clock_seconds() - begin);
    (void)fflush(stdout);
    gram_study_destroy(study);
}

/* One proposal after 200 evaluations of Hartmann-6 at random points, parameters learnt from nothing, and the next. */
static void time_proposal(gram_context *context, uint64_t round, double *first, double *next)
{
    const problem *p = PROBLEMS + 4;
    double x[MOST];
    gram_study *study = make_study(context, p, round);
    for (uint64_t i = 0; i < TIMED; i++) {
        gram_random_uniform((gram_random){round, 78}, 6 * i, 6, x);
        must(context, gram_study_add(context, study, x, p->value(x), NULL));
    }
    const double begin = clock_seconds();
    must(context, gram_study_ask(context, study, x, NULL));
    *first = clock_seconds() - begin;
    must(context, gram_study_tell(context, study, TIMED, p->value(x), NULL));
    const double again = clock_seconds();
    must(context, gram_study_ask(context, study, x, NULL));
    *next = clock_seconds() - again;
    gram_study_destroy(study);
}

static void time_three(gram_context *context)
{
    double first, next;
    for (int round = 0; round < 3; round++) {
        time_proposal(context, (uint64_t)round, &first, &next);
        printf("seconds,gram,%d,%d,%.3f,%.3f\n", round, (int)TIMED, first, next);
    }
}

static void time_one(gram_context *context)
{
    double first, next;
    time_proposal(context, 0, &first, &next);
    printf("{\"seconds\": %.6f, \"next_seconds\": %.6f}\n", first, next);
}

/* Is the name one of a list with commas? */
static int is_named(const char *list, const char *name)
{
    for (const size_t length = strlen(name); *list; list += strcspn(list, ","), list += *list == ',')
        if (strcspn(list, ",") == length && strncmp(list, name, length) == 0) return 1;
    return 0;
}

int main(int count, char **arguments)
{
    gram_context *context;
    if (count < 2 || gram_context_create(NULL, &context) < 0) return 1;
    if (strcmp(arguments[1], "seconds") == 0) time_three(context);
    if (strcmp(arguments[1], "proposal") == 0) time_one(context);
    for (int seed = count > 3 ? atoi(arguments[2]) : 0; count > 3 && seed <= atoi(arguments[3]); seed++)
        for (size_t i = 0; i < sizeof PROBLEMS / sizeof *PROBLEMS; i++)
            if (is_named(arguments[1], PROBLEMS[i].name)) run(context, PROBLEMS + i, (uint64_t)seed);
    gram_context_destroy(context);
    return 0;
}
