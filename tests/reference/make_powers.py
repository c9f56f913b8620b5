#!/usr/bin/python3
"""Writes src/base/text/powers_of_five.h, for `make format` to lay out: the leading 128 bits of 5^q, cut off, for all q that the
number parser needs. Checks that floor(log2(10^q)) is what the parser takes for it."""

LEAST, GREATEST = -342, 308


def leading_bits(q):
    """floor(5^q 2^k) for the k that makes it a number of 128 bits"""
    power = 5 ** abs(q)
    bits = power.bit_length()
    if q < 0:
        return (1 << (bits + 127)) // power  # 2^(bits - 1) < power < 2^bits
    return power << (128 - bits) if bits <= 128 else power >> (bits - 128)


def floor_log2_of_ten_to(q):
    return (10**q).bit_length() - 1 if q >= 0 else -(10**-q).bit_length()


print("/* The leading 128 bits of 5^q, cut off, as two halves; q = %d .. %d. Written by tests/reference/make_powers.py. */"
      % (LEAST, GREATEST))
print("#ifndef GRAM_BASE_POWERS_OF_FIVE_H\n#define GRAM_BASE_POWERS_OF_FIVE_H\n\n#include <stdint.h>\n")
print("enum { LEAST_POWER = %d, GREATEST_POWER = %d };\n" % (LEAST, GREATEST))
print("static const struct {\n    uint64_t high, low;\n} powers_of_five[] = {")
for q in range(LEAST, GREATEST + 1):
    bits = leading_bits(q)
    assert bits >> 127 == 1
    assert floor_log2_of_ten_to(q) == q * 217706 >> 16
    print("    {0x%016x, 0x%016x}," % (bits >> 64, bits & (2**64 - 1)))
print("};\n\n#endif")
