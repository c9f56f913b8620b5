/* "did you mean 'ell'?" */
#ifndef GRAM_BASE_SUGGEST_H
#define GRAM_BASE_SUGGEST_H

#include <stddef.h>

/* The candidate that `word` most likely meant: at most 2 edits away (insertion, deletion, substitution, swap of
 * neighbours; the case of letters does not count) and fewer than the word has letters, or, for two letters or more, the
 * first that begins with the word; the first of equally near ones. NULL if none is near. O(count * length^2), no
 * allocation. */
const char *gram_suggest(const char *word, const char *const *candidates, size_t count);

#endif
