/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_CORE_OUTSIDE_H
#define ORR_CORE_OUTSIDE_H

/*
 * outside.h - the library calls a function of the application's, which must return.
 *
 * Left by longjmp(), an exception of C++ or the end of its thread, it leaves the
 * functions of the library around it as well: what waits in them stays in lists, what
 * they hold is never given back.  So the program ends with a message before that happens,
 * at the place that leaves.  Jumps and exceptions that end inside the function are
 * nobody's concern.
 *
 *	OUTSIDE(outside);
 *
 *	outside_begin(&outside, node, caller, "a callback");
 *	func(arg);
 *	outside_end(&outside);
 */
#include "plat/plat.h"
#include "starpu_data_interfaces.h"

/* The C library's struct _pthread_cleanup_buffer. */
struct outside_jump {
	void (*routine)(void *arg);
	void *arg;
	int cancel_type;
	struct outside_jump *outer;
};

struct outside {
	/* The C library calls its routine when a jump leaves the frame that it lies in,
	 * or the thread ends there. */
	struct outside_jump jump;
	struct outside *outer; /* of the same caller */
	struct plat_caller *caller;
	const struct node *node;
	const char *what; /* is called; NULL: nothing yet, or it has returned */
};

/* What an exception leaves is cleared away. */
#define OUTSIDE(name)                                                                    \
	struct outside name __attribute__((cleanup(outside_check))) = {.what = NULL}

/* caller: what plat_caller() gives. */
void outside_begin(struct outside *outside, const struct node *node,
		   struct plat_caller *caller, const char *what);
/* The caller is the calling thread.  node: NULL before the library runs, when nothing is
 * guarded. */
void outside_enter(struct outside *outside, const struct node *node, const char *what);
/* A function of an interface: of the application's own only, ours return. */
static inline void outside_enter_ops(struct outside *outside, const struct node *node,
				     const struct starpu_data_interface_ops *ops,
				     const char *what)
{
	if ((int)ops->interfaceid >= STARPU_MAX_INTERFACE_ID)
		outside_enter(outside, node, what);
}
/* Does nothing where nothing has begun. */
void outside_end(struct outside *outside);
void outside_check(struct outside *outside);

/* The innermost call of the caller's is being left by what how names: say it, and end the
 * program.  Returns when the caller is in none. */
void outside_refuse(const struct plat_caller *caller, const char *how);
/* The caller blocks, where it must not: has it jumped there?  The C library does not tell
 * of jumps to the stack of another thread. */
void outside_look(const struct plat_caller *caller);
/* The thread ends, as the process does: nothing of that concerns it any more. */
void outside_forget(struct plat_caller *caller);
/* What the C library keeps of such calls is kept for the thread of the system: who shares
 * it with others puts that aside while they run. */
struct outside_jump *outside_put_aside(void);
void outside_put_back(struct outside_jump *list);

#endif
