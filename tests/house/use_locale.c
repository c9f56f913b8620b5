/* Part of every test program: puts it into the locale that GRAM_TEST_LOCALE names, before main. A test that is meant
 * to run under a comma must not pass because the locale was missing, so that is fatal. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

void gram_test_use_locale(void) __attribute__((constructor));

void gram_test_use_locale(void)
{
    const char *name = getenv("GRAM_TEST_LOCALE");
    if (!name) return;
    if (!setlocale(LC_ALL, name) || localeconv()->decimal_point[0] != ',') {
        fprintf(stderr, "use_locale: no locale %s with a decimal comma\n", name);
        exit(1);
    }
}
