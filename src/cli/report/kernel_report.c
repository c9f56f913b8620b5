#include "cli/report/kernel_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/report/report_rows.h"

void cli_kernel_print(cli_session *session, gram_string *text, const gram_kernel *kernel,
                      const gram_description *description, int64_t d)
{
    char heading[64];
    const char *domain = gram_kernel_domain(kernel);
    if (domain)
        (void)snprintf(heading, sizeof heading, "Properties on %s", domain);
    else
        (void)snprintf(heading, sizeof heading, "Properties on R^%" PRId64, d);
    cli_add_heading(session, text, heading);
    for (int64_t i = 0; i < gram_description_count(description); i++)
        cli_add_row(text, gram_description_label(description, i), gram_description_value(description, i));
}

/* ---- parameters ---- */

/* Was it left free? */
static int was_free(cli_session *session, const gram_kernel *given, int64_t index)
{
    gram_parameter before;
    if (index >= gram_kernel_parameter_count(given)) return 0;
    return gram_kernel_parameter_get(session->context, given, index, &before) == GRAM_OK && !before.set;
}

/* Where the value comes from, if it was not given. */
static const char *origin(const gram_parameter *parameter, int free)
{
    const char *dot = strrchr(parameter->name, '.');
    if (parameter->fixed) return "fixed";
    if (!free) return "";
    return dot && strncmp(dot, ".ell", 4) == 0 ? "was free: median heuristic" : "was free: default";
}

static void add_parameter(cli_session *session, gram_string *text, const gram_kernel *kernel, const gram_kernel *given,
                          int64_t index, size_t width)
{
    gram_parameter parameter;
    char value[CLI_SHORT_SIZE], lower[CLI_SHORT_SIZE], upper[CLI_SHORT_SIZE];
    if (gram_kernel_parameter_get(session->context, kernel, index, &parameter) != GRAM_OK) return;
    cli_short_number(parameter.value, value);
    gram_string_add(text, "%s", parameter.name);
    gram_string_pad(text, width);
    gram_string_add(text, "%-12s  %-9s  %-9s  %-6s  %s", parameter.set ? value : "free",
                    cli_short_number(parameter.lower, lower), cli_short_number(parameter.upper, upper),
                    parameter.transform == GRAM_TRANSFORM_LOG ? "log" : "linear",
                    origin(&parameter, kernel != given && was_free(session, given, index)));
    while (text->length > 0 && text->data[text->length - 1] == ' ') text->data[--text->length] = '\0';
    gram_string_add(text, "\n");
}

/* Where the second column starts. */
static size_t name_width(cli_session *session, const gram_kernel *kernel)
{
    gram_parameter parameter;
    size_t width = CLI_VALUE_COLUMN;
    for (int64_t i = 0; i < gram_kernel_parameter_count(kernel); i++)
        if (gram_kernel_parameter_get(session->context, kernel, i, &parameter) == GRAM_OK &&
            strlen(parameter.name) + 2 > width)
            width = strlen(parameter.name) + 2;
    return width;
}

void cli_parameters_print(cli_session *session, gram_string *text, const gram_kernel *kernel, const gram_kernel *given)
{
    const int64_t count = gram_kernel_parameter_count(kernel);
    const size_t width = name_width(session, kernel);
    if (count == 0) return;
    cli_add_heading(session, text, "Parameters");
    gram_string_add(text, "name");
    gram_string_pad(text, width);
    gram_string_add(text, "%-12s  %-9s  %-9s  %s\n", "value", "from", "to", "scale");
    for (int64_t i = 0; i < count; i++) add_parameter(session, text, kernel, given, i, width);
}
