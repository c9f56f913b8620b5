#include "cli/report/class_names.h"

#include <inttypes.h>

enum { MOST_SHOWN = 6 };

void cli_classes_json(cli_json *json, const gram_classes *classes)
{
    cli_json_open(json, "classes", '[');
    for (int64_t i = 0; i < classes->count; i++) cli_json_string(json, NULL, classes->names[i]);
    cli_json_close(json, '[');
}

void cli_classes_print(cli_text *text, const gram_classes *classes)
{
    cli_text_add(text, "%" PRId64 " classes (", classes->count);
    for (int64_t i = 0; i < classes->count && i < MOST_SHOWN; i++)
        cli_text_add(text, "%s%s", i > 0 ? ", " : "", classes->names[i]);
    cli_text_add(text, classes->count > MOST_SHOWN ? ", ...)" : ")");
}
