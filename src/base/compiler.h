/* The compiler extensions that gram uses, all of them. */
#ifndef GRAM_BASE_COMPILER_H
#define GRAM_BASE_COMPILER_H

#define GRAM_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define GRAM_WEAK __attribute__((weak))
#define GRAM_INLINE static inline __attribute__((always_inline))
#define GRAM_RESTRICT __restrict__

/* 128 bits, for products of two 64-bit numbers. */
__extension__ typedef unsigned __int128 gram_uint128;

/* The compiler forgets what it knows about a pointer, for a loop that is faster when it is not unrolled. */
#define GRAM_OPAQUE(pointer) __asm__("" : "+r"(pointer))

/* A thread that looks at a number again and again lets the other thread of its core go first. */
#if defined(__x86_64__)
#define GRAM_PAUSE() __builtin_ia32_pause()
#else
#define GRAM_PAUSE() __asm__ volatile("" ::: "memory")
#endif

#endif
