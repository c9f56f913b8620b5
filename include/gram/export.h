/* What makes a function part of libgram's interface. */
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
