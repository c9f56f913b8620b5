#include "cli/verb/model_facts.h"

void cli_facts_number(cli_facts *facts, const char *name, double value)
{
    if (facts->status >= 0) facts->status = gram_model_set_number(facts->context, facts->model, name, value);
}

void cli_facts_integer(cli_facts *facts, const char *name, int64_t value)
{
    if (facts->status >= 0) facts->status = gram_model_set_integer(facts->context, facts->model, name, value);
}

void cli_facts_text(cli_facts *facts, const char *name, const char *value)
{
    if (facts->status >= 0) facts->status = gram_model_set_text(facts->context, facts->model, name, value);
}

void cli_facts_array(cli_facts *facts, const char *name, int64_t rows, int64_t columns, const double *data)
{
    if (facts->status >= 0)
        facts->status = gram_model_set_array(facts->context, facts->model, name, rows, columns, data, columns);
}

void cli_facts_numbers(cli_facts *facts, const void *report, const cli_fact_place *places, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cli_facts_number(facts, places[i].name,
                         *(const double *)(const void *)((const char *)report + places[i].offset));
}
