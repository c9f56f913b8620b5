#include <gram/status.h>

const char *gram_status_name(gram_status status)
{
    switch (status) {
#define NAME_CASE(name, value, text)                                                                                   \
    case name: return #name;
        GRAM_STATUS_LIST(NAME_CASE)
#undef NAME_CASE
    }
    return "GRAM_UNKNOWN_STATUS";
}

const char *gram_status_text(gram_status status)
{
    switch (status) {
#define TEXT_CASE(name, value, text)                                                                                   \
    case name: return text;
        GRAM_STATUS_LIST(TEXT_CASE)
#undef TEXT_CASE
    }
    return "unknown status";
}
