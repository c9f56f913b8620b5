/* centre(a): a(x,y) - mean_i a(x,z_i) - mean_i a(z_i,y) + mean_ij a(z_i,z_j), the kernel of features less their mean over a sample z.
 *
 * The sample is data and has no place in a text. A program gives it with the kernel; a kernel that was read has none until it meets rows:
 * then it is centred about these, and stays so when it goes on to others (tuned numbers, folds, new rows), because every kernel made from it
 * shares what it holds. A model keeps the sample beside the text. A sample of the rows has at most 2,000 of them: an engine takes means
 * over all its pairs. */
#include <string.h>

#include <gram/random.h>

#include "kernel/kernel.h"
#include "points/functionals.h"
#include "points/points.h"

enum { MAX_ROWS = 2000, RANDOM_STREAM = 0x63656e /* "cen" */ };

gram_status gram_kernel_centre(gram_context *context, gram_points *sample, gram_kernel *a, gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    gram_external *external = NULL;
    if (!context || !kernel) return GRAM_ERROR_ARGUMENT;
    *kernel = NULL;
    FAIL_IF(!sample, context, GRAM_ERROR_ARGUMENT, "kernel_centre: sample is NULL");
    TRY(gram_points_must_be_plain(context, "kernel_centre", sample));
    FAIL_IF(!a, context, GRAM_ERROR_ARGUMENT, "kernel_centre: a is NULL");
    TRY(gram_external_new(context, "", &(gram_external){.points = sample}, &external));
    TRY(gram_kernel_with_child(context, &(gram_kernel){.node = GRAM_NODE_CENTRE, .external = external}, a, kernel));
done:
    gram_external_release(external);
    return status;
}

gram_status gram_kernel_centre_later(gram_context *context, gram_kernel *a, gram_kernel **kernel)
{
    return gram_kernel_with_child(context, &(gram_kernel){.node = GRAM_NODE_CENTRE}, a, kernel);
}

int gram_kernel_lacks_sample(const gram_kernel *kernel)
{
    if (kernel->node == GRAM_NODE_CENTRE && !kernel->external) return 1;
    for (int i = 0; i < kernel->child_count; i++)
        if (gram_kernel_lacks_sample(kernel->children[i])) return 1;
    return 0;
}

gram_points *gram_kernel_sample(const gram_kernel *kernel)
{
    if (kernel->node == GRAM_NODE_CENTRE && kernel->external) return kernel->external->points;
    for (int i = 0; i < kernel->child_count; i++) {
        gram_points *found = gram_kernel_sample(kernel->children[i]);
        if (found) return found;
    }
    return NULL;
}

gram_status gram_kernel_bind(gram_context *context, const gram_kernel *kernel, gram_points *sample, gram_kernel **out)
{
    gram_status status = GRAM_OK;
    gram_external *external = NULL;
    *out = NULL;
    TRY(gram_external_new(context, "", &(gram_external){.points = sample}, &external));
    TRY(gram_kernel_rebuild_centres(context, kernel, external, out));
done:
    gram_external_release(external);
    return status;
}

gram_status gram_kernel_bind_rows(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                  gram_kernel **out)
{
    gram_status status = GRAM_OK;
    int64_t *rows = NULL;
    gram_points *sample = NULL;
    gram_points places = *points; /* of functionals: where they are */
    *out = NULL;
    if (!gram_kernel_lacks_sample(kernel)) {
        *out = gram_kernel_retain((gram_kernel *)(uintptr_t)kernel);
        goto done;
    }
    places.functionals = NULL;
    if (points->n > MAX_ROWS) {
        TRY(gram_take(context, "centre: rows", points->n, sizeof *rows, (void **)&rows));
        gram_random_permutation((gram_random){context->seed, RANDOM_STREAM}, 0, points->n, rows);
    }
    TRY(gram_points_gather(context, &places, points->n < MAX_ROWS ? points->n : MAX_ROWS, rows, &sample));
    TRY(gram_kernel_bind(context, kernel, sample, out));
done:
    gram_points_release(sample);
    gram_give(context, rows);
    return status;
}
