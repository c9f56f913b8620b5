/* Texts as sparse features: what kernels of strings are inner products of.
 *
 * A kernel of the table that takes texts lists the features of one text: keys of 64 bits, which are hashes of what the feature is (the letters of a k-mer,
 * say), with a value each. Two features of one key would be taken for one: among a million of them that happens with probability 3e-8.
 *
 * What was made of a store of texts stays with the store, so that further engines on it cost nothing. */
#ifndef GRAM_KERNEL_TEXT_TEXT_FEATURES_H
#define GRAM_KERNEL_TEXT_TEXT_FEATURES_H

#include "kernel/kernel.h"

/* Where a kernel puts the features of a text: repeated keys are added up. */
typedef struct gram_feature_sink gram_feature_sink;
void gram_feature_add(gram_feature_sink *sink, uint64_t key, double value);
/* The same of a feature whose key comes once only, and of which room was made: for a text all features are added, or all are put. */
void gram_feature_put(gram_feature_sink *sink, uint64_t key, double value);
int gram_feature_expect(gram_feature_sink *sink, int64_t most);
/* Room for so many numbers, for the text at hand; NULL if there is no memory, of which the sink takes note. */
double *gram_feature_room(gram_feature_sink *sink, int64_t count);

/* One more symbol of a feature; order counts. */
static inline uint64_t gram_feature_mix(uint64_t key, uint64_t symbol)
{
    uint64_t z = key * UINT64_C(0x9e3779b97f4a7c15) + symbol; /* different for different small keys and symbols */
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The symbols of a text: code[0 .. count), GRAM_NO_SYMBOL where none is (a letter that is no base of DNA). */
enum { GRAM_OVER_LETTERS, GRAM_OVER_BYTES, GRAM_OVER_WORDS, GRAM_OVER_DNA, GRAM_OVER_STRANDS, GRAM_OVER_ITEMS };
#define GRAM_NO_SYMBOL UINT64_MAX
extern const char *const gram_over_words[];

typedef struct gram_symbols {
    int64_t count;
    const uint64_t *code;
} gram_symbols;
/* code has room for one symbol a byte. */
gram_symbols gram_symbols_read(int over, const char *bytes, int64_t length, uint64_t *code);

/* Rows of features of all texts of a store, and of y's in the columns of x's: features that x does not have are left out, which changes no inner
 * product with x. If the kernel divides by their lengths, the rows keep their squares, of all features. The caller releases both. */
gram_status gram_text_rows(gram_context *context, const gram_kernel_type *type, const double *par, gram_objects *x,
                           gram_objects *y, gram_objects **x_rows, gram_objects **y_rows);

#endif
