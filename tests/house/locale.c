/* Whether the tests under a comma locale really have one: LC_ALL and LOCPATH reach the C library's own functions. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    char text[16];
    if (!setlocale(LC_ALL, "")) return 1;
    snprintf(text, sizeof text, "%g", 0.5);
    return strcmp(text, "0,5") != 0 || strtod("0,25", NULL) < 0.2;
}
