/* Facts of a model, set in a row: after the first failure nothing more is set, and `status` says what it was. */
#ifndef GRAM_CLI_VERB_MODEL_FACTS_H
#define GRAM_CLI_VERB_MODEL_FACTS_H

#include <gram/gram.h>

typedef struct cli_facts {
    gram_context *context;
    gram_model *model;
    gram_status status;
} cli_facts;

void cli_facts_number(cli_facts *facts, const char *name, double value);
void cli_facts_integer(cli_facts *facts, const char *name, int64_t value);
void cli_facts_text(cli_facts *facts, const char *name, const char *value);
void cli_facts_array(cli_facts *facts, const char *name, int64_t rows, int64_t columns, const double *data);

/* Numbers of a report, by their places in it. */
typedef struct cli_fact_place {
    const char *name;
    size_t offset;
} cli_fact_place;

void cli_facts_numbers(cli_facts *facts, const void *report, const cli_fact_place *places, size_t count);

#endif
