/* What everything that reads and writes files shares: telling how far it is, and what the system said. */
#ifndef GRAM_BASE_SYSTEM_CALL_H
#define GRAM_BASE_SYSTEM_CALL_H

#include "base/context.h"

/* Reports the progress of long work; GRAM_ERROR_CANCELLED when the caller wants it stopped. */
gram_status gram_pulse(gram_context *context, const char *what, double share);

enum { GRAM_SYSTEM_REASON_SIZE = 96 };

/* What the system says about an errno. */
char *gram_system_reason(int error, char out[GRAM_SYSTEM_REASON_SIZE]);

#endif
