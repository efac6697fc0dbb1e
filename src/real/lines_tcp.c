/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include "real/lines_tcp.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of both versions of IP, addresses of the older one are written as the newer's. */
static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

enum { MOST_PROBE_S = 10, PROBES = 4, MAX_CALLERS = 16 };

static void add(struct lines_place *place, const struct in6_addr *address)
{
	if (place->naddresses < LINES_MAX_ADDRESSES)
		place->addresses[place->naddresses++] = *address;
}

static void add_old(struct lines_place *place, const struct sockaddr *at)
{
	struct in6_addr address;

	memcpy(address.s6_addr, mapped, sizeof(mapped));
	memcpy(address.s6_addr + sizeof(mapped),
	       &((const struct sockaddr_in *)(const void *)at)->sin_addr, 4);
	add(place, &address);
}

static void add_new(struct lines_place *place, const struct sockaddr *at)
{
	const struct in6_addr *address =
		&((const struct sockaddr_in6 *)(const void *)at)->sin6_addr;

	if (!IN6_IS_ADDR_LINKLOCAL(address))
		add(place, address);
}

/* Those of the older version first: they are where clusters are. */
static void list_addresses(struct lines_place *place, int has_new)
{
	struct ifaddrs *all;

	if (getifaddrs(&all) != 0)
		return;
	for (int family = 0; family < 1 + has_new; family++)
		for (const struct ifaddrs *at = all; at; at = at->ifa_next) {
			if (!at->ifa_addr || !(at->ifa_flags & IFF_UP) ||
			    (at->ifa_flags & IFF_LOOPBACK))
				continue;
			if (family == 0 && at->ifa_addr->sa_family == AF_INET)
				add_old(place, at->ifa_addr);
			if (family == 1 && at->ifa_addr->sa_family == AF_INET6)
				add_new(place, at->ifa_addr);
		}
	freeifaddrs(all);
}

/* The socket, with what it listens at, or -1: it is closed. */
static int listen_at(int fd, struct sockaddr *at, socklen_t bytes)
{
	if (bind(fd, at, bytes) == 0 && listen(fd, MAX_CALLERS) == 0 &&
	    getsockname(fd, at, &bytes) == 0)
		return fd;
	close(fd);
	return -1;
}

static int listen_new(uint16_t *port)
{
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), no = 0;
	struct sockaddr_in6 at = {.sin6_family = AF_INET6};

	if (fd < 0)
		return -1;
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	fd = listen_at(fd, (struct sockaddr *)&at, sizeof(at));
	*port = at.sin6_port;
	return fd;
}

static int listen_old(uint16_t *port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_in at = {.sin_family = AF_INET};

	if (fd < 0)
		return -1;
	fd = listen_at(fd, (struct sockaddr *)&at, sizeof(at));
	*port = at.sin_port;
	return fd;
}

int lines_tcp_listen(struct lines_place *place)
{
	int fd = listen_new(&place->port), has_new = fd >= 0;

	if (fd < 0)
		fd = listen_old(&place->port);
	if (fd >= 0)
		list_addresses(place, has_new);
	return fd;
}

/* 0, also while it is under way. */
static int start(int fd, const struct lines_place *place, const struct in6_addr *address)
{
	struct sockaddr_in6 to = {
		.sin6_family = AF_INET6, .sin6_port = place->port, .sin6_addr = *address};
	struct sockaddr_in to_old = {.sin_family = AF_INET, .sin_port = place->port};
	int ret;

	if (IN6_IS_ADDR_V4MAPPED(address)) {
		memcpy(&to_old.sin_addr, address->s6_addr + sizeof(mapped), 4);
		ret = connect(fd, (const struct sockaddr *)&to_old, sizeof(to_old));
	} else {
		ret = connect(fd, (const struct sockaddr *)&to, sizeof(to));
	}
	return ret != 0 && errno != EINPROGRESS ? -1 : 0;
}

int lines_tcp_call(const struct lines_place *place, int address)
{
	const struct in6_addr *at = &place->addresses[address];
	int fd = socket(IN6_IS_ADDR_V4MAPPED(at) ? AF_INET : AF_INET6,
			SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && start(fd, place, at) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int lines_tcp_error(int fd)
{
	int error = 0;
	socklen_t bytes = sizeof(error);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0)
		return errno;
	return error;
}

void lines_tcp_watch(int fd, int patience_ms)
{
	int yes = 1, probe_s = patience_ms / (PROBES * 1000);

	probe_s = probe_s > MOST_PROBE_S ? MOST_PROBE_S : probe_s;
	probe_s = probe_s > 1 ? probe_s : 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &probe_s, sizeof(probe_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &probe_s, sizeof(probe_s));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience_ms, sizeof(patience_ms));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
}
