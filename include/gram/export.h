/* What makes a function part of libgram's interface, and how its structs may grow.
 *
 * Structs whose first member is `size_t size` may get further members at their end in later versions, and programs that
 * were built with the shorter struct still work. size is sizeof of the struct as the caller knows it. A caller's struct
 * gets it from gram_X_init, where there is one, which also fills in the defaults; a report or result without it is
 * declared as `gram_krr_tune_report report = {.size = sizeof report};`. Then
 *
 *     options are read as far as their size says, the members beyond have their defaults;
 *     reports are written as far as their size says, and size itself stays;
 *     size 0 is GRAM_ERROR_ARGUMENT, and the message names the function to call; so is any other impossible size;
 *     options longer than libgram knows must be 0 beyond what it knows (an _init sees to it): a member that would be
 *     ignored is GRAM_ERROR_ARGUMENT;
 *     options within options are pointers, NULL for the defaults: a struct that is embedded could not grow.
 *
 * A report that libgram owns (gram_X_get_report) has the size of libgram's own struct: it has no members beyond. */
#ifndef GRAM_EXPORT_H
#define GRAM_EXPORT_H

#if defined(__GNUC__)
#define GRAM_API __attribute__((visibility("default")))
#else
#define GRAM_API
#endif

#ifdef __cplusplus
#define GRAM_BEGIN extern "C" {
#define GRAM_END }
#else
#define GRAM_BEGIN
#define GRAM_END
#endif

#endif
