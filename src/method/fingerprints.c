/* Fingerprints of prepared data, by the bits of the numbers: equal files prepare to equal bits on any machine. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "method/method.h"

static const char *const FEATURES = "fingerprint_features", *const TARGETS = "fingerprint_targets";

enum { FINGERPRINT_SIZE = 17 };

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 32;
}

/* An odd start keeps zeros from vanishing. */
static uint64_t mix_numbers(uint64_t hash, int64_t count, const double *numbers)
{
    uint64_t word;
    hash = mix(hash + UINT64_C(0x9e3779b97f4a7c15), (uint64_t)count);
    for (int64_t i = 0; i < count; i++) {
        memcpy(&word, &numbers[i], sizeof word);
        hash = mix(hash, word);
    }
    return hash;
}

static const char *print_hash(uint64_t hash, char text[FINGERPRINT_SIZE])
{
    (void)snprintf(text, FINGERPRINT_SIZE, "%016" PRIx64, hash);
    return text;
}

static const char *features_hash(const gram_prepared *data, char text[FINGERPRINT_SIZE])
{
    return print_hash(mix_numbers((uint64_t)data->d, data->n * data->d, data->x), text);
}

static const char *targets_hash(const gram_prepared *data, char text[FINGERPRINT_SIZE])
{
    const uint64_t hash = mix_numbers((uint64_t)data->targets, data->n * data->targets, data->y);
    return print_hash(mix_numbers(hash, data->weights ? data->n : 0, data->weights), text);
}

void gram_keep_fingerprints(gram_keeper *keeper, const gram_learning *learning)
{
    char hash[FINGERPRINT_SIZE];
    gram_keep_text(keeper, FEATURES, features_hash(learning->data, hash));
    gram_keep_text(keeper, TARGETS, targets_hash(learning->data, hash));
}

gram_status gram_check_fingerprints(gram_learning *learning)
{
    static const char *const ADVICE = "--resume needs the same rows in the same order; fit other data without it.";
    char hash[FINGERPRINT_SIZE];
    const gram_prepared *data = learning->data;
    const char *features = gram_kept_text(learning->before, FEATURES);
    const char *targets = gram_kept_text(learning->before, TARGETS);
    if (!features || !targets) {
        (void)gram_fail(learning->context, GRAM_ERROR_DATA, "%s: damaged: no fingerprints of the data",
                        learning->before_name);
        return gram_advise(learning->context, GRAM_ERROR_DATA, "Fit it again.");
    }
    const int same_features = strcmp(features, features_hash(data, hash)) == 0;
    const double rows = gram_kept_number(learning->before, "rows", 0);
    if (same_features && strcmp(targets, targets_hash(data, hash)) == 0) return GRAM_OK;
    if (rows != (double)data->table_rows)
        return gram_learning_fail_data(learning, ADVICE, "%" PRId64 " rows, not the %.0f that %s was fitted on",
                                       data->table_rows, rows, learning->before_name);
    return gram_learning_fail_data(learning, ADVICE, "the %s not those that %s was fitted on",
                                   same_features ? "target or the weights are" : "features are", learning->before_name);
}
