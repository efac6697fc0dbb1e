/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include "sim/spin.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include "base/table.h"
#include "base/text.h"
#include "core/watchdog.h"
#include "sim.h"
#include "sim/posix.h"

/*
 * spin.c - all ranks are one thread, and while code of the program runs no time passes. A
 * main that waits in while (!done), a kernel that waits so for another: nothing else can
 * run, and nobody inside of the simulation can notice.
 *
 * So a timer of the system interrupts the process.  While anything happens in the
 * simulation it does so rarely, and only compares.  Otherwise it looks often, and notes
 * where the program is: all registers, and what is near the top of the stack.  Code that
 * computes comes to ever new states.  Where no new one has come in the latter half of
 * many looks, the same instructions work on the same values, and what they look at can
 * be changed by nobody: then the run ends.  In all other cases it is told, after longer,
 * and goes on: a main may compute for hours.
 *
 * Time is that of the processor, so that a busy or stopped machine is no silence; but
 * what blocks takes none, and then it is the clock's.
 */
enum {
	SIGNAL = SIGVTALRM, /* debuggers pass it on without a word */
	LOOKS_PER_LIMIT = 5,
	FAST_PARTS = 20,   /* looks in a period, once one was in vain */
	ENOUGH_LOOKS = 40, /* in vain, for a verdict */
	MOST_STATES = 128, /* a loop has as many as instructions, at most */
	TELL_FACTOR = 12,  /* of the limit, before what may be well is told; and again */
	STACK_BYTES = 1024,
	RED_ZONE_BYTES = 128,
	FRAMES = 24,
	FRAMES_SHOWN = 6
};

static const double shortest_s = 0.002, idle_share = 0.05, late_periods = 3;

struct spin {
	timer_t timer;
	double limit_s, period_s;      /* of the watchdog; between two looks, now */
	uint64_t signature;            /* of what may have happened */
	double clock_s, cpu_s;         /* of the last look */
	double spent_s, blocked_s;     /* in vain, on a processor and off it */
	double told_s, blocked_told_s; /* when the next report is due */
	unsigned nlooks, newest;       /* in vain; of these, the last with a new state */
	unsigned nstates;
	uint64_t states[MOST_STATES];
};

static double clock_of_s(clockid_t clock)
{
	struct timespec now;

	/* Not the program's clock, which is simulated: the system's. */
	if (syscall(SYS_clock_gettime, clock, &now) != 0)
		return 0;
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void set_period(struct spin *spin, double period_s)
{
	struct itimerspec when = {.it_interval = {.tv_sec = (time_t)period_s}};

	if (period_s == spin->period_s)
		return;
	spin->period_s = period_s;
	when.it_interval.tv_nsec =
		(long)((period_s - (double)when.it_interval.tv_sec) * 1e9);
	when.it_value = when.it_interval;
	timer_settime(spin->timer, 0, &when, NULL);
}

static double slow_s(const struct spin *spin)
{
	double period_s = spin->limit_s / LOOKS_PER_LIMIT;

	period_s = period_s < 1 ? period_s : 1;
	return period_s > shortest_s ? period_s : shortest_s;
}

static double fast_s(const struct spin *spin)
{
	double period_s = slow_s(spin) / FAST_PARTS;

	return period_s > shortest_s ? period_s : shortest_s;
}

/* ---- has anything happened? ------------------------------------------- */

static const struct node *running_node(const struct sim *sim)
{
	const struct sim_thread *thread;

	if (sim->in_kernel)
		return sim->current ? sim->current->node : NULL;
	thread = sg_actor_self_get_data();
	return thread && thread->rank ? thread->rank->node : NULL;
}

static uint64_t bits(double value)
{
	uint64_t whole;

	memcpy(&whole, &value, sizeof(whole));
	return whole;
}

static uint64_t sign(const struct sim *sim)
{
	const struct node *node = running_node(sim);
	uint64_t sum = sim->nsteps;

	sum = table_mix(sum + bits(simgrid_get_clock()));
	sum = table_mix(sum + bits(sim->spent_s) + (uint64_t)sim->nslept);
	sum = table_mix(sum + (uintptr_t)node + (uint64_t)sim->in_kernel);
	if (!node)
		return sum;
	sum = table_mix(sum + bits(node->plat->debt.debt_s));
	return table_mix(sum + watchdog_signature((struct node *)(uintptr_t)node));
}

/* ---- states ------------------------------------------------------------ */

static uint64_t hash_bytes(uint64_t sum, const void *bytes, size_t n)
{
	uint64_t word;

	for (size_t i = 0; i + sizeof(word) <= n; i += sizeof(word)) {
		memcpy(&word, (const char *)bytes + i, sizeof(word));
		sum = table_mix(sum * 31 + word);
	}
	return sum;
}

/*
 * The part of the stack that is mapped for certain: the next page may be no stack.  Below
 * its top, functions that call no other have variables (System V on x86-64), without
 * which a loop that counts there would seem to stand still.
 */
static uint64_t hash_stack(uint64_t sum, uintptr_t top)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), end = top + STACK_BYTES;
	uintptr_t next = (top + page) & ~(page - 1);
	unsigned char is_in;

	if (end > next && mincore((void *)next, 1, &is_in) != 0)
		end = next;
	top = (top - RED_ZONE_BYTES + 7) & ~(uintptr_t)7;
	return hash_bytes(sum, (const void *)top, end - top);
}

/* 0: this processor's registers are not known here. */
static uint64_t state_of(const ucontext_t *context)
{
	uint64_t state = 0;

#if defined(__x86_64__)
	const mcontext_t *machine = &context->uc_mcontext;

	state = hash_bytes(1, machine->gregs, sizeof(machine->gregs));
	if (machine->fpregs)
		state = hash_bytes(state, machine->fpregs->_xmm,
				   sizeof(machine->fpregs->_xmm));
	state = hash_stack(state, (uintptr_t)machine->gregs[REG_RSP]);
#elif defined(__aarch64__)
	const mcontext_t *machine = &context->uc_mcontext;

	state = hash_bytes(1, machine, sizeof(*machine));
	state = hash_stack(state, (uintptr_t)machine->sp);
#else
	(void)context;
#endif
	return state;
}

static void note_state(struct spin *spin, const ucontext_t *context)
{
	uint64_t state = state_of(context);

	spin->nlooks++;
	for (unsigned i = 0; i < spin->nstates; i++)
		if (spin->states[i] == state && state != 0)
			return;
	spin->newest = spin->nlooks;
	if (spin->nstates < MOST_STATES)
		spin->states[spin->nstates++] = state;
}

/* What the program's handlers of signals do is unknown. */
static int handles_signals(void)
{
	static const int signals[] = {SIGALRM, SIGUSR1, SIGUSR2, SIGIO,
				      SIGPROF, SIGCHLD, SIGURG};
	struct sigaction action;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], NULL, &action) == 0 &&
		    action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)
			return 1;
	return 0;
}

static int is_proven(const struct spin *spin)
{
	return spin->nlooks >= ENOUGH_LOOKS && spin->newest <= spin->nlooks / 2 &&
	       !handles_signals() && !posix_has_strangers();
}

/* ---- reports ----------------------------------------------------------- */

static void add_rank(struct text *text, const struct fault *fault)
{
	if (fault->nranks > 0)
		text_add(text, "[orrery][rank %d] ", fault->rank);
	else
		text_add(text, "[orrery] ");
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The innermost functions, from the one that was interrupted to main or to the library,
 * whose own have no names.  Static functions of the program have none, either. */
static void add_frames(struct text *text, const struct fault *fault, uintptr_t pc)
{
	void *frames[FRAMES];
	int n = backtrace(frames, FRAMES), first = 0;
	Dl_info place, ours = {0};

	(void)dladdr((const void *)(uintptr_t)spin_watch, &ours);
	while (first < n && (uintptr_t)frames[first] != pc)
		first++;
	add_rank(text, fault);
	text_add(text, "  it is in");
	for (int i = first; i < n && i < first + FRAMES_SHOWN; i++) {
		if (!dladdr(frames[i], &place) || !place.dli_fname ||
		    (place.dli_fbase == ours.dli_fbase && !place.dli_sname))
			break;
		text_add(text, "%s %s (%s+0x%lx)", i > first ? ", called by" : "",
			 place.dli_sname ? place.dli_sname : "a function",
			 base_of(place.dli_fname),
			 (unsigned long)((char *)frames[i] - (char *)place.dli_fbase));
		if (place.dli_sname && strcmp(place.dli_sname, "main") == 0)
			break;
	}
	text_add(text, "; addr2line -f -e PROGRAM says where the numbers are\n");
}

static uintptr_t counter_of(const ucontext_t *context)
{
#if defined(__x86_64__)
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return (uintptr_t)context->uc_mcontext.pc;
#else
	(void)context;
	return 0;
#endif
}

static const char *remedy(int in_kernel)
{
	return in_kernel
		       ? "kernels and callbacks run one at a time here, each to its end: "
			 "let the task depend on what it waits for (data, "
			 "starpu_task_declare_deps()), or let main or a thread that "
			 "it has made wait"
		       : "simulated time passes only in calls: wait by "
			 "starpu_task_wait(), starpu_mpi_wait() or the like, by "
			 "pthread_cond_wait() or sem_wait(), or call sched_yield() or "
			 "usleep() in the loop; threads that need not call the library "
			 "work in real time with ORRERY_REAL_THREADS=1";
}

static void add_head(struct text *text, const struct fault *fault)
{
	char where[512];

	fault_describe(fault, where, sizeof(where));
	add_rank(text, fault);
	text_add(text, "the program is%s, and no simulated time passes", where);
}

static void tell_spin(struct sim *sim, const struct fault *fault,
		      const ucontext_t *context)
{
	const struct spin *spin = sim->spin;
	struct text text = {.used = 0};
	char why[320];

	add_head(&text, fault);
	text_add(&text,
		 ": for %.3g s of processor time it has executed the same instructions "
		 "with the same values (%u states in %u looks), so it waits for what "
		 "nothing can change meanwhile: %s\n",
		 spin->spent_s, spin->nstates, spin->nlooks, remedy(sim->in_kernel));
	add_frames(&text, fault, counter_of(context));
	text_put(&text);
	snprintf(why, sizeof(why),
		 "nothing can make progress: code of the program spins "
		 "(ORRERY_WATCHDOG=0 would let it)");
	report_end(why);
}

static void tell_slow(struct sim *sim, const struct fault *fault,
		      const ucontext_t *context)
{
	struct spin *spin = sim->spin;
	struct text text = {.used = 0};

	if (spin->spent_s < spin->told_s)
		return;
	spin->told_s = spin->spent_s * TELL_FACTOR;
	add_head(&text, fault);
	text_add(&text,
		 ": it has computed for %.3g s of processor time.  If it waits for "
		 "others, it will do so for ever: %s.  The run goes on\n",
		 spin->spent_s, remedy(sim->in_kernel));
	add_frames(&text, fault, counter_of(context));
	text_put(&text);
}

static void tell_blocked(struct sim *sim, const struct fault *fault,
			 const ucontext_t *context)
{
	struct spin *spin = sim->spin;
	struct text text = {.used = 0};

	if (spin->blocked_s < spin->blocked_told_s)
		return;
	spin->blocked_told_s = spin->blocked_s * TELL_FACTOR;
	add_head(&text, fault);
	text_add(&text,
		 ": for %.3g s it has waited for the system or for another thread of the "
		 "process, and all ranks with it.  If it waits for a rank, callback or "
		 "kernel, it will do so for ever: %s.  The run goes on\n",
		 spin->blocked_s, remedy(sim->in_kernel));
	add_frames(&text, fault, counter_of(context));
	text_put(&text);
}

/* ---- looking ------------------------------------------------------------ */

static void begin_anew(struct spin *spin, uint64_t signature)
{
	spin->signature = signature;
	spin->spent_s = spin->blocked_s = 0;
	spin->nlooks = spin->newest = spin->nstates = 0;
	spin->told_s = TELL_FACTOR * spin->limit_s;
	spin->blocked_told_s = spin->limit_s;
	set_period(spin, slow_s(spin));
}

/* Is it code of the program, not SimGrid's or the library's between events? */
static int is_of_program(const struct fault *fault)
{
	const struct plat_caller *caller = fault->caller;

	return caller && (!sim_get()->in_kernel || caller->task || caller->depth > 0);
}

static void count(struct spin *spin, double clock_s, double cpu_s)
{
	double step_s = clock_s - spin->clock_s, used_s = cpu_s - spin->cpu_s;

	spin->clock_s = clock_s;
	spin->cpu_s = cpu_s;
	spin->spent_s += used_s;
	/* One that comes late: the process was stopped. */
	if (used_s < idle_share * step_s)
		spin->blocked_s += step_s < late_periods * spin->period_s ? step_s : 0;
}

static void look(struct sim *sim, const ucontext_t *context)
{
	struct spin *spin = sim->spin;
	uint64_t signature = sign(sim);
	struct fault fault = report_who();

	count(spin, clock_of_s(CLOCK_MONOTONIC), clock_of_s(CLOCK_PROCESS_CPUTIME_ID));
	if (signature != spin->signature || !is_of_program(&fault)) {
		begin_anew(spin, signature);
		return;
	}
	note_state(spin, context);
	set_period(spin, fast_s(spin));
	if (spin->spent_s >= spin->limit_s && is_proven(spin))
		tell_spin(sim, &fault, context);
	tell_slow(sim, &fault, context);
	tell_blocked(sim, &fault, context);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	struct sim *sim = sim_get();
	int code = errno;

	(void)number;
	(void)info;
	if (sim->nplats > 0 && !sim->has_ended && !sim_is_child())
		look(sim, context);
	errno = code;
}

static int is_ours_to_take(void)
{
	struct sigaction before;
	char factory[32];

	/* Actors with threads of their own would not be interrupted. */
	if (kernel_config("contexts/factory", factory, sizeof(factory)) != 0 ||
	    strcmp(factory, "thread") == 0)
		return 0;
	return sigaction(SIGNAL, NULL, &before) == 0 && before.sa_handler == SIG_DFL;
}

void spin_watch(struct sim *sim, double watchdog_s)
{
	struct sigaction action = {.sa_sigaction = on_signal,
				   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGNAL};
	struct spin *spin;
	void *frame;

	if (watchdog_s <= 0 || sim->spin || !is_ours_to_take())
		return;
	spin = orr_alloc(sizeof(*spin));
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &spin->timer) != 0) {
		free(spin);
		return;
	}
	spin->limit_s = watchdog_s;
	spin->clock_s = clock_of_s(CLOCK_MONOTONIC);
	spin->cpu_s = clock_of_s(CLOCK_PROCESS_CPUTIME_ID);
	(void)backtrace(&frame, 1); /* The first call loads a library. */
	sim->spin = spin;
	sigaction(SIGNAL, &action, NULL);
	begin_anew(spin, 0);
}
