/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * The hash behind footprints: CRC-32 with the polynomial 0x1EDC6F41, most
 * significant bit first, without final inversion.  crc32c("123456789", 0) is
 * 0xc052a8c8.  All four functions may be called by any thread, at any time.
 */

#ifndef STARPU_HASH_H
#define STARPU_HASH_H

#include <stddef.h>
#include <stdint.h>

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Hash of n bytes, continuing from inputcrc (0 to start). */
uint32_t starpu_hash_crc32c_be_n(const void *input, size_t n, uint32_t inputcrc);

/** Hash of the bytes of the pointer itself, not of what it points to. */
uint32_t starpu_hash_crc32c_be_ptr(void *input, uint32_t inputcrc);

/** Hash of the four bytes of input, in memory order. */
uint32_t starpu_hash_crc32c_be(uint32_t input, uint32_t inputcrc);

/** Hash of the characters of str, without its end mark. */
uint32_t starpu_hash_crc32c_string(const char *str, uint32_t inputcrc);

#ifdef __cplusplus
}
#endif

#endif /* STARPU_HASH_H */
