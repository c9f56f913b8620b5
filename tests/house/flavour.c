/* flavour NAME: whether the BLAS of this process is the one that the test asked for. */
#include <stdio.h>
#include <string.h>

#include <gram/context.h>

int main(int count, char **arguments)
{
    const char *name = gram_blas_name();
    if (count == 2 && strcmp(name, arguments[1]) == 0) return 0;
    fprintf(stderr, "flavour: this process has %s, not %s\n", name, count == 2 ? arguments[1] : "(none given)");
    return 1;
}
