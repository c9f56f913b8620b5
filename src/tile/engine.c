/* Making an engine: compile the kernel, pack the points, compute what its parts need of them. */
#include "tile/engine.h"

#include <string.h>

#include "kernel/text/text_features.h"
#include "tile/embedding/bag_part.h"
#include "tile/functional/functional_engine.h"
#include "tile/objects/given_panels.h"
#include "tile/objects/sparse_panels.h"

/* Sparse rows as they are, texts by their features, of a given matrix where its entries are. */
static gram_status pack_things(gram_context *context, const gram_engine_request *request, gram_metric *metric)
{
    gram_status status = GRAM_OK;
    const int64_t column = metric->mapping.columns[0];
    const gram_points *y = request->y ? request->y : request->x;
    gram_sparse_sides sides = {
        .x = request->x, .y = y, .count = request->count, .index = request->index, .column = column, .l1 = metric->l1};
    if (metric->kind == GRAM_OBJECT_GIVEN)
        return gram_given_panels_create(context, request->x, y, request->count, request->index, column, &metric->given);
    if (metric->kind == GRAM_OBJECT_TEXT)
        TRY(gram_text_rows(context, metric->type, metric->par, request->x->objects[column], y->objects[column],
                           &sides.rows, &sides.columns));
    TRY(gram_sparse_panels_create(context, &sides, &metric->sparse));
done:
    gram_objects_release(sides.rows);
    gram_objects_release(sides.columns);
    return status;
}

/* Of bags that are numbers by now: their features. */
static gram_status pack_features(gram_context *context, const gram_engine *engine, gram_metric *metric)
{
    gram_status status = GRAM_OK;
    TRY(gram_panels_create(context, metric->bags->x, 0, NULL, &metric->mapping, metric->single, metric->norms,
                           &metric->x));
    if (engine->symmetric) return GRAM_OK;
    TRY(gram_panels_create(context, metric->bags->y, 0, NULL, &metric->mapping, metric->single, metric->norms,
                           &metric->y));
done:
    return status;
}

static gram_status pack(gram_context *context, gram_engine *engine, const gram_engine_request *request)
{
    gram_status status = GRAM_OK;
    const gram_points *columns = request->y ? request->y : request->x;
    for (int i = 0; i < engine->metric_count; i++) {
        gram_metric *metric = &engine->metrics[i];
        if (metric->kind != GRAM_OBJECT_NONE) {
            TRY(pack_things(context, request, metric));
            continue;
        }
        if (metric->bags) {
            TRY(pack_features(context, engine, metric));
            continue;
        }
        TRY(gram_panels_create(context, request->x, 0, NULL, &metric->mapping, metric->single, metric->norms,
                               &metric->x));
        if (engine->symmetric) continue;
        TRY(gram_panels_create(context, columns, request->count, request->index, &metric->mapping, metric->single,
                               metric->norms, &metric->y));
    }
done:
    return status;
}

static gram_status check_kernel(gram_context *context, const gram_engine_request *request, const gram_kernel *kernel)
{
    gram_status status = GRAM_OK;
    TRY(gram_kernel_check_set(context, kernel));
    TRY(gram_kernel_check_part(context, kernel, request->space ? request->space->d : request->x->d, request->x->d));
done:
    return status;
}

static gram_status check_request(gram_context *context, const gram_engine_request *request)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!request->kernel, context, GRAM_ERROR_ARGUMENT, "gram matrix: kernel is NULL");
    FAIL_IF(!request->x, context, GRAM_ERROR_ARGUMENT, "gram matrix: x is NULL");
    FAIL_IF(request->y && request->y->d != request->x->d, context, GRAM_ERROR_DIMENSION,
            "gram matrix: x has %lld columns, y has %lld", (long long)request->x->d, (long long)request->y->d);
    for (int64_t l = 0; request->y && l < request->x->d; l++)
        FAIL_IF(gram_points_kind(request->x, l) != gram_points_kind(request->y, l), context, GRAM_ERROR_DIMENSION,
                "gram matrix: column %lld holds %s in x and %s in y", (long long)l + 1,
                gram_object_kind_name(gram_points_kind(request->x, l)),
                gram_object_kind_name(gram_points_kind(request->y, l)));
    TRY(check_kernel(context, request, request->kernel));
    for (int i = 0; i < request->other_count; i++) TRY(check_kernel(context, request, request->others[i]));
    for (int64_t j = 0; request->index && j < request->count; j++)
        FAIL_IF(request->index[j] < 0 || request->index[j] >= request->x->n, context, GRAM_ERROR_ARGUMENT,
                "gram matrix: index[%lld] = %lld is not among the %lld points", (long long)j,
                (long long)request->index[j], (long long)request->x->n);
done:
    return status;
}

static void set_shape(gram_engine *engine, const gram_engine_request *request)
{
    const gram_points *y = request->y ? request->y : request->x;
    engine->n = request->x->n;
    engine->m = request->index ? request->count : y->n;
    engine->d = request->x->d;
    engine->symmetric = y == request->x && !request->index;
    engine->shared = y == request->x;
    engine->ids = request->index;
    /* a distance that is a difference of entries would have few digits left of those of f32 */
    int after = gram_kernel_has_node(request->kernel, GRAM_NODE_AFTER);
    for (int i = 0; i < request->other_count; i++) after |= gram_kernel_has_node(request->others[i], GRAM_NODE_AFTER);
    engine->single = request->x->f32 && y->f32 && !request->always_double && !after;
}

static gram_status keep_kernels(gram_context *context, gram_engine *engine, const gram_engine_request *request)
{
    gram_status status = GRAM_OK;
    const int count = 1 + request->other_count;
    TRY(gram_arena_take(context, &engine->arena, "kernel program", count, sizeof *engine->roots,
                        (void **)&engine->roots));
    TRY(gram_arena_take(context, &engine->arena, "kernel program", count, sizeof *engine->kept,
                        (void **)&engine->kept));
    for (int i = 0; i < count; i++)
        engine->kept[i] = gram_kernel_retain(i ? request->others[i - 1] : (gram_kernel *)(uintptr_t)request->kernel);
    engine->root_count = count;
done:
    return status;
}

gram_status gram_engine_create(gram_context *context, const gram_engine_request *request, gram_engine **engine)
{
    gram_status status = GRAM_OK;
    gram_engine *made = NULL;
    gram_engine_request inner;
    gram_points places[2];
    *engine = NULL;
    TRY(check_request(context, request));
    TRY(gram_take(context, "kernel program", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    gram_arena_init(&made->arena, made->memory);
    made->vecmath = context->vecmath;
    made->strips = gram_strips_choose(context->vecmath->isa);
    set_shape(made, request);
    TRY(keep_kernels(context, made, request));
    TRY(gram_functional_begin(context, made, request, places, &inner));
    TRY(gram_engine_compile(context, made, &inner));
    if (made->functionals) {
        TRY(gram_functional_pack(context, made));
    } else {
        TRY(pack(context, made, request));
        TRY(gram_engine_make_terms(context, made, request));
    }
    *engine = made;
    made = NULL;
done:
    gram_engine_destroy(made);
    return status;
}

void gram_engine_destroy(gram_engine *engine)
{
    if (!engine) return;
    gram_functional_end(engine);
    for (int i = 0; i < engine->bag_count; i++) gram_bag_part_destroy(engine->bags[i]);
    for (int i = 0; i < engine->metric_count; i++) {
        gram_panels_destroy(&engine->metrics[i].x);
        gram_panels_destroy(&engine->metrics[i].y);
        gram_sparse_panels_destroy(engine->metrics[i].sparse);
        gram_given_panels_destroy(engine->metrics[i].given);
    }
    for (int i = 0; i < engine->root_count; i++) gram_kernel_release(engine->kept[i]);
    gram_arena_release(&engine->arena);
    gram_memory *memory = engine->memory;
    gram_memory_give(memory, engine);
    gram_memory_release(memory);
}
