#include "cli/report/class_names.h"

#include <inttypes.h>

enum { MOST_SHOWN = 6 };

void cli_classes_json(gram_json *json, const gram_classes *classes)
{
    gram_json_open(json, "classes", '[');
    for (int64_t i = 0; i < classes->count; i++) gram_json_string(json, NULL, classes->names[i]);
    gram_json_close(json, '[');
}

void cli_classes_print(gram_string *text, const gram_classes *classes)
{
    gram_string_add(text, "%" PRId64 " classes (", classes->count);
    for (int64_t i = 0; i < classes->count && i < MOST_SHOWN; i++)
        gram_string_add(text, "%s%s", i > 0 ? ", " : "", classes->names[i]);
    gram_string_add(text, classes->count > MOST_SHOWN ? ", ...)" : ")");
}
