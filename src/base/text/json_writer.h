/* How JSON keeps names that are not UTF-8; the writer itself is in gram/output.h.
 *
 * Names come from CSV files and may be any bytes, JSON is UTF-8. In exact JSON, that of model.json, a byte b that is not part of
 * a UTF-8 character is written as the character U+10FF00 + b, from the last plane for private use; characters U+10FF80 to
 * U+10FFFF themselves are written byte by byte in the same way. So every name comes back as it was, and all usual ones look
 * like themselves. */
#ifndef GRAM_BASE_TEXT_JSON_WRITER_H
#define GRAM_BASE_TEXT_JSON_WRITER_H

#include <gram/output.h>

/* Undoes what was done to a name: text (valid UTF-8) is copied to out, which has strlen(text) + 1 bytes. */
void gram_json_decode(const char *text, char *out);

#endif
