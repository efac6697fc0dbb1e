/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_MODEL_HASH_H
#define ORR_CORE_MODEL_HASH_H

/*
 * hash.h - the checksum that names data sizes in model files.
 *
 * CRC-32C (polynomial 0x1EDC6F41), most significant bit first, without reflection
 * and final inversion.  Footprints in existing calibrations are made of it, so it
 * may never change.
 */
#include <stddef.h>
#include <stdint.h>

/* Checksum of n bytes, continued from crc (0 to start). */
uint32_t hash_crc32c_be_n(const void *p, size_t n, uint32_t crc);
/* Checksum of the four bytes of v, least significant first. */
uint32_t hash_crc32c_be(uint32_t v, uint32_t crc);

#endif
