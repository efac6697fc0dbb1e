/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "core/model/hash.h"

/*
 * hash_tables[0][b] is the checksum of the byte b; hash_tables[k][b] that of b
 * followed by k zero bytes, so that four bytes take four independent look-ups.  The
 * checksum of a byte is the sum, without carries, of those of its bits.
 */
#define BIT(b, i, sum) (((b) >> (i)&1) ? (sum) : 0u)
#define SUM_0(b)                                                                         \
	(BIT(b, 0, 0x1edc6f41) ^ BIT(b, 1, 0x3db8de82) ^ BIT(b, 2, 0x7b71bd04) ^         \
	 BIT(b, 3, 0xf6e37a08) ^ BIT(b, 4, 0xf31a9b51) ^ BIT(b, 5, 0xf8e959e3) ^         \
	 BIT(b, 6, 0xef0edc87) ^ BIT(b, 7, 0xc0c1d64f))
#define SUM_1(b)                                                                         \
	(BIT(b, 0, 0x9f5fc3df) ^ BIT(b, 1, 0x2063e8ff) ^ BIT(b, 2, 0x40c7d1fe) ^         \
	 BIT(b, 3, 0x818fa3fc) ^ BIT(b, 4, 0x1dc328b9) ^ BIT(b, 5, 0x3b865172) ^         \
	 BIT(b, 6, 0x770ca2e4) ^ BIT(b, 7, 0xee1945c8))
#define SUM_2(b)                                                                         \
	(BIT(b, 0, 0xc2eee4d1) ^ BIT(b, 1, 0x9b01a6e3) ^ BIT(b, 2, 0x28df2287) ^         \
	 BIT(b, 3, 0x51be450e) ^ BIT(b, 4, 0xa37c8a1c) ^ BIT(b, 5, 0x58257b79) ^         \
	 BIT(b, 6, 0xb04af6f2) ^ BIT(b, 7, 0x7e4982a5))
#define SUM_3(b)                                                                         \
	(BIT(b, 0, 0xfc93054a) ^ BIT(b, 1, 0xe7fa65d5) ^ BIT(b, 2, 0xd128a4eb) ^         \
	 BIT(b, 3, 0xbc8d2697) ^ BIT(b, 4, 0x67c6226f) ^ BIT(b, 5, 0xcf8c44de) ^         \
	 BIT(b, 6, 0x81c4e6fd) ^ BIT(b, 7, 0x1d55a2bb))

#define FOUR(sum, b) sum(b), sum((b) + 1), sum((b) + 2), sum((b) + 3)
#define SIXTEEN(sum, b)                                                                  \
	FOUR(sum, b), FOUR(sum, (b) + 4), FOUR(sum, (b) + 8), FOUR(sum, (b) + 12)
#define SIXTY_FOUR(sum, b)                                                               \
	SIXTEEN(sum, b), SIXTEEN(sum, (b) + 16), SIXTEEN(sum, (b) + 32),                 \
		SIXTEEN(sum, (b) + 48)
#define ALL_BYTES(sum)                                                                   \
	SIXTY_FOUR(sum, 0u), SIXTY_FOUR(sum, 64u), SIXTY_FOUR(sum, 128u),                \
		SIXTY_FOUR(sum, 192u)

static const uint32_t hash_tables[4][256] = {
	{ALL_BYTES(SUM_0)}, {ALL_BYTES(SUM_1)}, {ALL_BYTES(SUM_2)}, {ALL_BYTES(SUM_3)}};

uint32_t hash_crc32c_be_n(const void *p, size_t n, uint32_t crc)
{
	const unsigned char *byte = p;

	for (size_t i = 0; i < n; i++)
		crc = crc << 8 ^ hash_tables[0][crc >> 24 ^ byte[i]];
	return crc;
}

uint32_t hash_crc32c_be(uint32_t v, uint32_t crc)
{
	uint32_t mixed = __builtin_bswap32(v) ^ crc;

	return hash_tables[3][mixed >> 24] ^ hash_tables[2][mixed >> 16 & 0xff] ^
	       hash_tables[1][mixed >> 8 & 0xff] ^ hash_tables[0][mixed & 0xff];
}
