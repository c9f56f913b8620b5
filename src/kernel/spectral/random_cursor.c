#include "kernel/spectral/random_cursor.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

gram_cursor gram_cursor_start(uint64_t seed, uint64_t stream, int64_t which, int64_t count)
{
    const uint64_t begin = (uint64_t)which << 36;
    gram_cursor c = {.normal = {seed, stream}, .uniform = {seed, stream + 1}, .at_normal = begin, .at_uniform = begin};
    c.first = ((double)which + gram_cursor_uniform(&c)) / (double)count;
    return c;
}

double gram_cursor_normal(gram_cursor *c)
{
    double out;
    gram_random_normal(c->normal, c->at_normal++, 1, &out);
    return out;
}

double gram_cursor_uniform(gram_cursor *c)
{
    double out;
    gram_random_uniform(c->uniform, c->at_uniform++, 1, &out);
    return out;
}

double gram_cursor_direction_normal(gram_cursor *c)
{
    if (!c->normals || c->given < 1) return gram_cursor_normal(c);
    c->given--;
    if (c->uniforms) c->uniforms++;
    return *c->normals++;
}

double gram_cursor_direction_uniform(gram_cursor *c)
{
    if (!c->uniforms || c->given < 1) return gram_cursor_uniform(c);
    c->given--;
    c->normals++;
    return *c->uniforms++;
}

/* Marsaglia and Tsang 2000; shapes below 1 by one above them. */
double gram_cursor_gamma(gram_cursor *c, double shape)
{
    if (shape < 1) {
        const double more = gram_cursor_gamma(c, shape + 1);
        return more * pow(gram_cursor_uniform(c), 1 / shape);
    }
    const double d = shape - 1.0 / 3, s = 1 / sqrt(9 * d);
    for (;;) {
        const double x = gram_cursor_normal(c), root = 1 + s * x, v = root * root * root;
        if (root <= 0) continue;
        if (log(gram_cursor_uniform(c)) < 0.5 * x * x + d * (1 - v + log(v))) return d * v;
    }
}

double gram_cursor_poisson(gram_cursor *c, double mean)
{
    double time = 0, count = 0;
    for (;;) {
        time -= log(gram_cursor_uniform(c));
        if (time > mean) return count;
        count++;
    }
}

/* Positive stable of index a in (0, 1], E exp(-s A) = exp(-s^a) (Kanter 1975). */
double gram_cursor_stable(gram_cursor *c, double a)
{
    const double u = PI * gram_cursor_uniform(c), e = -log(gram_cursor_uniform(c));
    if (a >= 1) return 1;
    return sin(a * u) / pow(sin(u), 1 / a) * pow(sin((1 - a) * u) / e, (1 - a) / a);
}
