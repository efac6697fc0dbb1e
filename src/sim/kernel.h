/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_SIM_KERNEL_H
#define ORR_SIM_KERNEL_H

/*
 * kernel.h - what SimGrid offers in C++ only: timers and communications whose ends
 * run in its kernel context, its configuration, and the deadlock signal.
 */
#include <stddef.h>

#include <simgrid/actor.h>
#include <simgrid/link.h>
#include <simgrid/semaphore.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kernel;

/* on_step is called in kernel context when no actor can run, with the time to SimGrid's
 * next event; negative: it has none.  It returns the time to the next one of ours, which
 * may be a kernel timer that it has set, or a negative number.  When both are negative
 * on_deadlock follows.  on_arrival is called when any SimGrid
 * communication has ended, just before its actors learn it; on_end when all mains have
 * ended.  Once per process: SimGrid offers no way to take the connections back. */
struct kernel *kernel_new(void (*on_deadlock)(void), void (*on_arrival)(void),
			  double (*on_step)(double others_s), void (*on_end)(void));

/* Is there a simulation in this process? */
int kernel_is_there(void);

/* Call fire(arg) in kernel context at a date that is not past. */
void *kernel_timer_set(double date_s, void (*fire)(void *arg), void *arg);
void kernel_timer_remove(void *timer);

/*
 * Copy the text of a configuration item.  0, or -ENOENT when SimGrid has no such
 * item of type text.
 */
int kernel_config(const char *name, char *text, size_t bytes);

/* Of a route, in its order; until the next one is asked for. */
struct kernel_links {
	sg_link_t const *links;
	size_t n;
};

/* The route between two hosts; returns its latency.  SimGrid finds it anew each time. */
double kernel_route(struct kernel *kernel, const void *from, const void *to,
		    struct kernel_links *links);

/* A SimGrid communication; done is called in kernel context.  Start it there too. */
struct kernel_flow {
	void (*done)(struct kernel_flow *flow);
};

void kernel_flow_start(struct kernel *kernel, struct kernel_flow *flow, void *from,
		       void *to, double bytes);

/* The three ways in which SMPI charges the actor that calls MPI for a message. */
enum kernel_message { KERNEL_ISEND, KERNEL_SEND, KERNEL_RECEIVE };

/* From now on cost_s says what a message costs the calling actor, which is on this host,
 * in place of SMPI's own figures. */
void kernel_charge_messages(double (*cost_s)(enum kernel_message kind, double bytes,
					     sg_host_t host));

/* As sg_sem_release() in two steps: whoever waits may see for which reason, end, and
 * destroy it before and in the second one. */
void kernel_hold(sg_sem_t sem);
void kernel_release(sg_sem_t sem);

/* Call one, then the other, also where an exception leaves the first. */
void kernel_call(void (*call)(void *arg), void (*then)(void *arg), void *arg);

/* Call it; kernel_leave() in there ends it by an exception, which clears away what is on
 * the stack. */
void kernel_catch(void (*call)(void *arg), void *arg);
void kernel_leave(void) __attribute__((noreturn));

/* What the caller was before SMPI took it for another actor of its rank. */
struct kernel_guise {
	void *extension; /* SMPI's */
	long *place;     /* of its number */
	long number;
};

/* A thread that is no rank begins: MPI has been started for it, too. */
void kernel_thread_begins(void);

/* SMPI tells ranks by the numbers of their first actors, and keeps for each what has come
 * for it: from now on the caller sends and receives as this one.  0: nothing has changed,
 * as this SimGrid keeps its actors' numbers elsewhere. */
int kernel_guise_take(sg_actor_t as, struct kernel_guise *guise);
void kernel_guise_leave(const struct kernel_guise *guise);

/* What a std::thread is to do, from its state, which is taken; NULL. */
void *kernel_run_state(void *state);
/* Throw std::system_error with this code of errno's. */
void kernel_fail(int code) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
