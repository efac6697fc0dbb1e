/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"
#include "real/real.h"

/*
 * bell.c - where the transport can wake who sleeps (struct net_bell), the thread that
 * polls when nobody else does sleeps until it is woken, and the others leave it to that
 * thread.  A kick has to reach it there: by a descriptor beside the transport's.
 */

/* What depends on time is looked at so often: while the engine waits for something, and
 * while it does not. */
#define LISTEN_S 5e-3
#define ASLEEP_S 0.05

void bell_open(struct plat *plat)
{
	plat->progress.bell.fd = -1;
	plat->progress.rouse_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

void bell_close(struct plat *plat)
{
	if (plat->progress.rouse_fd >= 0)
		close(plat->progress.rouse_fd);
}

/* What the engine does when nothing comes for a while is done here, too. */
static int arm(struct plat *plat)
{
	struct net_bell *bell = &plat->progress.bell;
	int advanced;

	orr_store(&bell->is_wanted, 1);
	advanced = progress_poll(plat);
	orr_store(&bell->is_wanted, 0);
	return advanced;
}

static void listen(struct progress *progress, int bell_fd, double limit_s)
{
	struct pollfd fds[] = {{.fd = bell_fd, .events = POLLIN},
			       {.fd = progress->rouse_fd, .events = POLLIN}};
	uint64_t count;

	poll(fds, 2, (int)(limit_s * 1e3));
	if (fds[1].revents & POLLIN)
		ORR_ASSERT(read(progress->rouse_fd, &count, sizeof(count)) != 0);
}

int bell_sleep(struct plat *plat, int state, int kicks)
{
	struct progress *progress = &plat->progress;
	int bell_fd = orr_load(&progress->bell.fd);

	if (bell_fd < 0 || progress->rouse_fd < 0 || !progress_has_poll(progress))
		return 0;
	if (arm(plat) > 0)
		return 1;
	if (!orr_load(&progress->bell.is_armed))
		return 0;
	/* Who kicks, or takes the poll function away, looks at listens afterwards: one of
	 * us sees the other. */
	orr_store(&progress->listens, 1);
	orr_fence();
	if (orr_load(&progress->kicks) == kicks && progress_has_poll(progress))
		listen(progress, bell_fd, state == PROGRESS_ASLEEP ? ASLEEP_S : LISTEN_S);
	orr_store(&progress->listens, 0);
	return 1;
}

void bell_rouse(struct progress *progress)
{
	const uint64_t one = 1;

	orr_fence();
	if (orr_load(&progress->listens))
		ORR_ASSERT(write(progress->rouse_fd, &one, sizeof(one)) != 0);
	else
		real_futex_wake(&progress->kicks, 1);
}

double bell_nap_s(const struct plat *plat, double nap_s)
{
	const struct progress *progress = &plat->progress;

	/* A worker may go away for a long task. */
	if (progress->worker || !orr_load(&progress->listens) ||
	    !orr_load(&progress->bell.is_armed))
		return nap_s;
	return ASLEEP_S;
}
