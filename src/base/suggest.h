/* "did you mean 'ell'?": public, see <gram/text.h>. */
#ifndef GRAM_BASE_SUGGEST_H
#define GRAM_BASE_SUGGEST_H

#include <gram/text.h>

#endif
