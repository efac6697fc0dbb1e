/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include "sim/pthreads.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <smpi/smpi_helpers_internal.h>

/*
 * clock.c - time as the application sees it, by our functions and by those of the C
 * library, which smpicc redirects to smpi_*() by its headers.
 *
 * SMPI's versions work on the main of a rank only and crash in callbacks, kernels and
 * threads.  Ours come first when the program's symbols are looked up, since the program
 * is linked with us before SimGrid; without an open node they hand over to SMPI's.
 *
 * Time stands still while the application computes.  A loop that waits for a date would
 * never end; so a thread that has looked at the clock LOOKS_FREE times, and nothing else
 * took time since, pays for each further look.
 */
enum { LOOKS_FREE = 16 };

/* 1 when this look is to be paid for. */
static int is_dear(struct looks *looks, double date_s)
{
	if (looks->n > 0 && looks->date_s == date_s)
		return ++looks->n > LOOKS_FREE;
	looks->date_s = date_s;
	looks->n = 1;
	return 0;
}

static double look_in_kernel(struct sim *sim)
{
	double date_s = sim->now_s + sim->spent_s;

	if (sim->current && is_dear(&sim->looks, date_s)) {
		sim_charge_worker(sim->current, node_knobs(sim->current->node)->clock_s);
		date_s = sim->looks.date_s = sim->now_s + sim->spent_s;
	}
	return date_s;
}

double clock_look_s(void)
{
	struct sim *sim = sim_get();
	struct sim_thread *thread;
	struct plat *plat;

	sim->quiet.has_looked = 1;
	if (sim->in_kernel)
		return look_in_kernel(sim);
	if (!sg_actor_self())
		return simgrid_get_clock();
	thread = sim_thread_self();
	plat = thread->rank->node ? thread->rank->node->plat : NULL;
	if (!plat) {
		if (is_dear(&thread->looks, simgrid_get_clock())) {
			SIM_YIELDS(sg_actor_sleep_for(1e-6));
			thread->looks.date_s = simgrid_get_clock();
		}
		return simgrid_get_clock();
	}
	if (is_dear(&thread->looks, plat_now_s(plat))) {
		plat_charge(plat, node_knobs(plat->node)->clock_s);
		thread->looks.date_s = plat_now_s(plat);
	}
	return plat_now_s(plat);
}

double plat_look_s(struct plat *plat)
{
	(void)plat;
	return clock_look_s();
}

void plat_looked(struct plat *plat)
{
	unsigned nsubmitted = (unsigned)orr_count(&plat->node->tasks_submitted);
	struct looks *looks;

	if (plat->sim->in_kernel || !sg_actor_self())
		return;
	looks = &sim_thread_self()->looks;
	if (looks->nsubmitted != nsubmitted)
		looks->n = 0;
	looks->nsubmitted = nsubmitted;
	if (is_dear(looks, plat_now_s(plat))) {
		plat_pause(plat);
		looks->date_s = plat_now_s(plat);
	}
}

double plat_here_s(struct plat *plat)
{
	struct sim *sim = plat->sim;

	return plat_now_s(plat) + (sim->in_kernel ? sim->spent_s : 0);
}

void sim_tried(void)
{
	struct node *node = plat_self();

	if (node)
		plat_looked(node->plat);
	else
		clock_look_s();
}

/* Its processor's time, so that what else the host does costs nothing. */
double plat_effort_s(struct plat *plat)
{
	struct timespec now;

	(void)plat;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- what smpicc redirects ------------------------------------------- */

/* SMPI's own version. */
#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

/* Who sleeps for no time again and again lets others run, as who looks at a clock. */
static void sleep_s(double seconds)
{
	struct node *node = plat_self();

	if (seconds <= 0)
		sim_tried();
	if (pthreads_nap(seconds))
		return;
	if (node)
		plat_sleep(node->plat, seconds);
	else if (!sim_get()->in_kernel)
		SIM_YIELDS(sg_actor_sleep_for(seconds));
}

/* To the nearest: who has waited for a date does not see one before it. */
static struct timespec look(void)
{
	double date_s = clock_look_s();
	struct timespec date = {.tv_sec = (time_t)date_s};

	date.tv_nsec = lround((date_s - (double)date.tv_sec) * 1e9);
	if (date.tv_nsec == 1000000000) {
		date.tv_sec++;
		date.tv_nsec = 0;
	}
	return date;
}

unsigned smpi_sleep(unsigned seconds)
{
	unsigned left = 0;

	if (seconds > 0 && sim_is_plain_main())
		SIM_YIELDS(left = NEXT(smpi_sleep)(seconds));
	else
		sleep_s(seconds);
	return left;
}

int smpi_usleep(useconds_t usecs)
{
	int ret = 0;

	if (usecs > 0 && sim_is_plain_main())
		SIM_YIELDS(ret = NEXT(smpi_usleep)(usecs));
	else
		sleep_s(1e-6 * usecs);
	return ret;
}

int smpi_nanosleep(const struct timespec *rest, struct timespec *left)
{
	int ret;

	if ((rest->tv_sec != 0 || rest->tv_nsec != 0) && sim_is_plain_main()) {
		SIM_YIELDS(ret = NEXT(smpi_nanosleep)(rest, left));
		return ret;
	}
	if (rest->tv_sec < 0 || rest->tv_nsec < 0 || rest->tv_nsec > 999999999) {
		errno = EINVAL;
		return -1;
	}
	sleep_s((double)rest->tv_sec + 1e-9 * (double)rest->tv_nsec);
	if (left)
		*left = (struct timespec){0};
	return 0;
}

int smpi_gettimeofday(struct timeval *date, struct timezone *zone)
{
	struct timespec now;

	if (sim_is_plain_main())
		return NEXT(smpi_gettimeofday)(date, zone);
	now = look();
	if (date)
		*date = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
	return 0;
}

int smpi_clock_gettime(clockid_t clock, struct timespec *date)
{
	if (sim_is_plain_main())
		return NEXT(smpi_clock_gettime)(clock, date);
	*date = look();
	return 0;
}

/* SMPI leaves this one to the C library; here all clocks agree. */
time_t time(time_t *date)
{
	time_t now;

	if (sim_is_plain_main())
		return NEXT(time)(date);
	now = look().tv_sec;
	if (date)
		*date = now;
	return now;
}

/* C11's clock. */
int timespec_get(struct timespec *date, int base)
{
	if (base != TIME_UTC || sim_is_stranger())
		return NEXT(timespec_get)(date, base);
	*date = look();
	return base;
}

/* ---- what it does not redirect --------------------------------------- */

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *date,
		    struct timespec *left)
{
	struct timespec rest = *date, now;

	if (sim_is_stranger())
		return NEXT(clock_nanosleep)(clock, flags, date, left);
	if (flags & TIMER_ABSTIME) {
		smpi_clock_gettime(clock, &now);
		if (date->tv_sec < now.tv_sec ||
		    (date->tv_sec == now.tv_sec && date->tv_nsec <= now.tv_nsec))
			return 0;
		rest.tv_sec -= now.tv_sec + (date->tv_nsec < now.tv_nsec);
		rest.tv_nsec += (date->tv_nsec < now.tv_nsec) * 1000000000L - now.tv_nsec;
		left = NULL;
	}
	return smpi_nanosleep(&rest, left) == 0 ? 0 : errno;
}

/* Called by what smpicc has not compiled. */
int nanosleep(const struct timespec *rest, struct timespec *left)
{
	return sim_is_stranger() ? NEXT(nanosleep)(rest, left)
				 : smpi_nanosleep(rest, left);
}

int usleep(useconds_t usecs)
{
	return sim_is_stranger() ? NEXT(usleep)(usecs) : smpi_usleep(usecs);
}

unsigned sleep(unsigned seconds)
{
	return sim_is_stranger() ? NEXT(sleep)(seconds) : smpi_sleep(seconds);
}

/* Without descriptors it is a way to sleep, and so is select(). */
int poll(struct pollfd *descriptors, nfds_t n, int timeout_ms)
{
	if (n > 0 || timeout_ms < 0 || sim_is_stranger())
		return NEXT(poll)(descriptors, n, timeout_ms);
	sleep_s(1e-3 * timeout_ms);
	return 0;
}

int select(int n, fd_set *in, fd_set *out, fd_set *other, struct timeval *limit)
{
	if (in || out || other || !limit || sim_is_stranger())
		return NEXT(select)(n, in, out, other, limit);
	sleep_s((double)limit->tv_sec + 1e-6 * (double)limit->tv_usec);
	return 0;
}

int ppoll(struct pollfd *descriptors, nfds_t n, const struct timespec *limit,
	  const sigset_t *mask)
{
	if (n > 0 || !limit || sim_is_stranger())
		return NEXT(ppoll)(descriptors, n, limit, mask);
	return smpi_nanosleep(limit, NULL);
}

int pselect(int n, fd_set *in, fd_set *out, fd_set *other, const struct timespec *limit,
	    const sigset_t *mask)
{
	if (in || out || other || !limit || sim_is_stranger())
		return NEXT(pselect)(n, in, out, other, limit, mask);
	return smpi_nanosleep(limit, NULL);
}

int thrd_sleep_of_c11(const struct timespec *rest,
		      struct timespec *left) __asm__("thrd_sleep");

int thrd_sleep_of_c11(const struct timespec *rest, struct timespec *left)
{
	return nanosleep(rest, left) == 0 ? 0 : errno == EINTR ? -1 : -2;
}

/* Nanoseconds; those of a stranger are real. */
static long look_ns(void)
{
	struct timespec date;

	if (sim_is_stranger())
		clock_gettime(CLOCK_REALTIME, &date);
	else
		smpi_clock_gettime(CLOCK_REALTIME, &date);
	return date.tv_sec * 1000000000L + date.tv_nsec;
}

/* std::chrono::steady_clock::now() and system_clock::now() return one integer. */
long clock_of_cpp_steady(void) __asm__("_ZNSt6chrono3_V212steady_clock3nowEv");
long clock_of_cpp_system(void) __asm__("_ZNSt6chrono3_V212system_clock3nowEv");

long clock_of_cpp_steady(void)
{
	return look_ns();
}

long clock_of_cpp_system(void)
{
	return look_ns();
}

/* What Fortran's system_clock() calls: numbers of 4 bytes have milliseconds. */
void _gfortran_system_clock_4(int32_t *count, int32_t *rate, int32_t *max);
void _gfortran_system_clock_8(int64_t *count, int64_t *rate, int64_t *max);

void _gfortran_system_clock_4(int32_t *count, int32_t *rate, int32_t *max)
{
	if (count)
		*count = (int32_t)(look_ns() / 1000000 & INT32_MAX);
	if (rate)
		*rate = 1000;
	if (max)
		*max = INT32_MAX;
}

void _gfortran_system_clock_8(int64_t *count, int64_t *rate, int64_t *max)
{
	if (count)
		*count = look_ns();
	if (rate)
		*rate = 1000000000;
	if (max)
		*max = INT64_MAX;
}

double omp_get_wtime(void);

double omp_get_wtime(void)
{
	return 1e-9 * (double)look_ns();
}
