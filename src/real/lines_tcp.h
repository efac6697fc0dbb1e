/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_REAL_LINES_TCP_H
#define ORR_REAL_LINES_TCP_H

/*
 * lines_tcp.h - sockets for lines.h.
 */
#include <netinet/in.h>
#include <stdint.h>

enum { LINES_MAX_ADDRESSES = 6 };

/* Where a rank can be called. */
struct lines_place {
	uint16_t port, naddresses; /* of these, the first */
	struct in6_addr addresses[LINES_MAX_ADDRESSES];
};

/* A socket that others may call, where place says then; -1: there is none. */
int lines_tcp_listen(struct lines_place *place);
/* Begin to call one of its addresses: a socket, that can be written to when it has been
 * reached or cannot be, or -1. */
int lines_tcp_call(const struct lines_place *place, int address);
/* The error of a socket, once. */
int lines_tcp_error(int fd);
/* From now on the system looks for itself whether the other end's machine is there, and
 * gives up after so long. */
void lines_tcp_watch(int fd, int patience_ms);

#endif
