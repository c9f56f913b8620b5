/* Numbers as text, whatever the locale: public, see <gram/text.h>. */
#ifndef GRAM_BASE_NUMBER_H
#define GRAM_BASE_NUMBER_H

#include <gram/text.h>

#endif
