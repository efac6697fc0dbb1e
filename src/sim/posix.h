/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_SIM_POSIX_H
#define ORR_SIM_POSIX_H

/*
 * posix.h - the C library's locks and pauses, for threads that the simulation knows.
 */
struct sim_posix;
struct posix_rank;
struct sim_rank;

/* keys.c: what a thread has by pthread_setspecific(), when it ends; and without
 * destructors, when the process does. */
struct posix_value;
void posix_values_end(struct posix_value **values);
void posix_values_drop(struct posix_value **values);

/* The rank has ended. */
void posix_forget(struct sim_rank *rank);

/* Is the caller, or may another thread of the process be, one that the simulation does
 * not know, by pthread_create() of the program or a library?  Then what waits may wait
 * for it, in real time. */
int posix_has_strangers(void);
/* statics.c: code of the program's makes a thread. */
void statics_watch(const void *code);
/* A main of the rank has ended, and is none of the simulation's any more. */
void statics_main_ends(struct sim_rank *rank);
/* In how many ranks do destructors run, behind main?  And in which first? */
int statics_are_ending(int *first);

/* The C library says that there is one thread as long as it has made none, and C++ leaves
 * out what others would have to see. */
void posix_not_alone(void);
/* Block the calling thread until the object is woken, or until a date when that is not
 * negative.  0 or ETIMEDOUT; who: the function that waits. */
int posix_wait(const void *object, double until_s, const char *who);
/* Wake the first that waits for the object, or all.  How many it were. */
int posix_wake(const void *object, int all);

#endif
