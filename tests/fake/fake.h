/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_FAKE_FAKE_H
#define ORR_FAKE_FAKE_H

/*
 * fake.h - a platform in virtual time: several nodes, one process, one thread.
 *
 * The test plays all nodes in turn: fake_select(i), then calls of node i.  Everything
 * that a backend does later is an event of one calendar, run while some node waits at
 * a gate (or in fake_run()), in the order of dates, then of insertion.  Kernels really
 * run.  A wait that nothing can end returns -EDEADLK.
 *
 * Since nodes do not run at once, a test must not block in what another node has to
 * take part in by a call of its own that comes later; unless the nodes are played by
 * mains (fake_spawn()), which take turns.
 */
struct fake_main;
struct job;
struct net;
struct plat_copy;
struct worker;

/* What all nodes are made of; fake_start() sets what is said in brackets. */
struct fake_machine {
	int ncpus, ngpus;        /* [2, 0] */
	int nnumas;              /* main memories [1] */
	double numa_bytes;       /* of each but the first [0: no limit] */
	double gpu_memory_bytes; /* [0: no limit] */
	/* What others leave of it: less than that is refused [0: all of it]. */
	double gpu_left_bytes;
	double disk_bytes;       /* of one beside main memory [0: there is none] */
	double link_bytes_per_s; /* between memories of a node [1e10] */
	double link_latency_s;   /* [1e-6] */
	int no_peer_copies;      /* GPUs copy to and from main memory only [0] */
	double task_s;           /* duration of a task [1e-6] */
	/* Instead of task_s, when it is set [NULL]. */
	double (*duration_s)(const struct worker *worker, const struct job *job);
	/* Instead of the link's figures, when it is set [NULL]. */
	double (*copy_s)(const struct plat_copy *copy);
};

/* A world of nnodes; the network is given by latency and bandwidth of each pair.
 * Node 0 is selected.  Nodes are then opened as programs do. */
void fake_start(int nnodes, double latency_s, double bytes_per_s);
/* All nodes are closed.  Forgets events that have not run. */
void fake_stop(void);

/* To be changed before the nodes open; the durations at any time. */
struct fake_machine *fake_machine(void);

/* Whose calls the next ones are. */
void fake_select(int node);
int fake_selected(void);

double fake_now_s(void);
/* Run the next event: 1, or 0 when there is none. */
int fake_step(void);
/* Run events until there is none or the date is past until_s; returns how many. */
int fake_run_until(double until_s);
int fake_run(void);

/* Dates, and who goes first, are drawn from a seed from now on; 0: no more. */
void fake_shuffle(unsigned long seed);
/* A thread of the application on a node: it runs in fake_play(), or once the main that
 * made it waits, yields or ends. */
struct fake_main *fake_spawn(int node, void (*run)(void *arg), void *arg);
/* Run mains and events until all mains have ended.  They are gone then. */
void fake_play(void);
/* Of the calling main: let others go first; wait for the end of another. */
void fake_yield(void);
void fake_join(const struct fake_main *other);

/* From now on the net gets from the memory of other nodes, and says so; refusal: 0, or
 * how it ends each time, a negative errno. */
void fake_net_reaches(struct net *net, int refusal);

#endif
