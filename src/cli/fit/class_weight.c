#include "cli/fit/class_weight.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void balance(const fit_state *fit, double *weights)
{
    const int64_t n = fit->prepared->n, classes = fit->classes.count;
    for (int64_t c = 0; c < classes; c++) weights[c] = 0;
    for (int64_t i = 0; i < n; i++) weights[(int64_t)fit->labels[i]]++;
    for (int64_t c = 0; c < classes; c++) weights[c] = (double)n / ((double)classes * weights[c]);
}

static int bad_weight(const char *text)
{
    return cli_fail(CLI_WRONG_USE, "For example --class-weight yes=5,no=1; classes that are not named have 1.",
                    "fit: --class-weight '%s' is neither 'balanced' nor NAME=W,NAME=W with W above 0", text);
}

/* "NAME=W" of the given length. The last '=' is the one that counts: names may have others. */
static int read_one(const fit_state *fit, const char *text, size_t length, double *weights)
{
    const char *equals = NULL;
    double value;
    for (size_t i = 0; i < length; i++)
        if (text[i] == '=') equals = text + i;
    if (!equals) return bad_weight(fit->own->class_weight);
    const size_t rest = (size_t)(text + length - equals) - 1, name = (size_t)(equals - text);
    if (rest == 0 || gram_number_parse(equals + 1, rest, &value) != rest || !(value > 0) || !isfinite(value))
        return bad_weight(fit->own->class_weight);
    for (int64_t c = 0; c < fit->classes.count; c++)
        if (strlen(fit->classes.names[c]) == name && memcmp(fit->classes.names[c], text, name) == 0) {
            weights[c] = value;
            return CLI_DONE;
        }
    return cli_fail(CLI_WRONG_USE, "`gram info` lists the classes of a model, the report of `fit` too.",
                    "fit: --class-weight: no class '%.*s' in %s", (int)name, text, fit->file);
}

int cli_class_weights(const fit_state *fit, double **weights)
{
    const char *text = fit->own->class_weight;
    int code = CLI_DONE;
    *weights = NULL;
    if (!text) return CLI_DONE;
    *weights = malloc((size_t)fit->classes.count * sizeof **weights);
    if (!*weights) return cli_no_memory();
    for (int64_t c = 0; c < fit->classes.count; c++) (*weights)[c] = 1;
    if (strcmp(text, "balanced") == 0) {
        balance(fit, *weights);
        return CLI_DONE;
    }
    while (code == CLI_DONE) {
        const size_t length = strcspn(text, ",");
        code = read_one(fit, text, length, *weights);
        if (text[length] == '\0') break;
        text += length + 1;
    }
    return code;
}
