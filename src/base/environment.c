/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include "base/environment.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/edits.h"
#include "base/knobs.h"

extern char **environ;

/* A variable of StarPU's, or of programs around the library, that no knob reads. */
struct unread {
	const char *name; /* with a star: all that begin like this */
	int is_missed;    /* it asks for what is not offered */
	const char *why;
};

#define NEEDLESS(name, why)                                                              \
	{                                                                                \
		name, 0, why                                                             \
	}
#define MISSED(name, why)                                                                \
	{                                                                                \
		name, 1, why                                                             \
	}
#define OTHER_DEVICES "devices other than CUDA's are not offered"
#define TCPIP         "ranks are reached by MPI or UCX only; see STARPU_NMPI_MS"
#define EXPERIMENTAL  "an experiment of StarPU's that is not offered"

static const struct unread unread_table[] = {
	NEEDLESS("STARPU_RAND_SEED", "read by starpu_srand48() and its like themselves"),
	NEEDLESS("STARPU_BACKOFF_MIN", "workers sleep while there is nothing to do"),
	NEEDLESS("STARPU_BACKOFF_MAX", "workers sleep while there is nothing to do"),
	NEEDLESS("STARPU_GLOBAL_ARBITER", "STARPU_COMMUTE never deadlocks without"),
	NEEDLESS("STARPU_WORKER_TREE", "policies choose the order of workers"),
	NEEDLESS("STARPU_DIDUSE_BARRIER", "of StarPU's own heuristics of eviction"),
	NEEDLESS("STARPU_SUBALLOCATOR",
		 "of StarPU's own allocator; freed blocks are kept for the next"),
	NEEDLESS("STARPU_STATS", "of builds of StarPU with --enable-stats"),
	NEEDLESS("STARPU_ENABLE_STATS", "of builds of StarPU with --enable-stats"),
	NEEDLESS("STARPU_PCI_FLAT", "the tree of PCI links comes from the platform"),
	NEEDLESS("STARPU_SSILENT", "read by examples of StarPU's themselves"),
	NEEDLESS("STARPU_SINK", "set by StarPU for its own processes"),
	NEEDLESS("STARPU_MPI_PLATFORM", "give the platform to `orrery run --sim`"),
	NEEDLESS("STARPU_MPI_NP", "of StarPU's test-suite"),
	NEEDLESS("STARPU_MPI_THREAD_MULTIPLE_SEND",
		 "a worker that makes a value ready never waits for MPI"),
	NEEDLESS("STARPU_MPI_NREADY_PROCESS",
		 "what is ready for one rank travels together, in bounded turns"),
	NEEDLESS("STARPU_MPI_RECV_WAIT_FINALIZE", "of NewMadeleine"),
	NEEDLESS("STARPU_MPI_NMAD_*", "of NewMadeleine"),
	NEEDLESS("STARPU_MPI_TRACE_SYNC_CLOCKS",
		 "clocks are aligned where all ranks meet in starpu_mpi_init()"),
	NEEDLESS("STARPU_MPI_MEM_LATE",
		 "memory for a value is taken when it comes or is granted"),
	NEEDLESS("STARPU_MPI_MEM_THROTTLE",
		 "granted transfers are bounded by ORRERY_MPI_WINDOW_BYTES"),
	NEEDLESS("STARPU_MPI_EARLYDATA_ALLOCATE",
		 "a value that arrives early never blocks the thread of communication"),
	NEEDLESS("STARPU_MPI_PSM2", "PSM2 is not asked about GPUs"),
	NEEDLESS("STARPU_MPI_DEBUG_LEVEL_*", "see STARPU_MPI_COMM"),
	NEEDLESS("STARPU_MPI_MS_MULTIPLE_THREAD", "slaves need no thread each"),
	NEEDLESS("STARPU_MPI_SC_MULTIPLE_THREAD", "slaves need no thread each"),
	NEEDLESS("STARPU_CUDA_ONLY_FAST_ALLOC_OTHER_MEMNODES",
		 "of StarPU's own allocator"),
	NEEDLESS("STARPU_CHECK_*", "of StarPU's test-suite"),
	NEEDLESS("STARPU_QUICK_CHECK", "of StarPU's test-suite"),
	NEEDLESS("STARPU_LONG_CHECK", "of StarPU's test-suite"),
	NEEDLESS("STARPU_MICROBENCHS_DISABLED", "of StarPU's test-suite"),
	NEEDLESS("STARPU_TIMEOUT_ENV", "of StarPU's test-suite"),
	NEEDLESS("STARPU_LAUNCH", "of StarPU's test-suite"),
	NEEDLESS("STARPU_BENCH_*", "of StarPU's test-suite"),
	NEEDLESS("STARPU_TRACE_BUFFER_SIZE",
		 "records go to the file whenever their buffer is full"),
	NEEDLESS("ORRERY_BUILD", "read by `orrery` and the test-suite"),
	NEEDLESS("ORRERY_SRC", "read by `orrery` and the test-suite"),
	NEEDLESS("ORRERY_TARGET", "read by scripts/prepare"),
	NEEDLESS("ORRERY_PACKAGES", "read by scripts/prepare"),
	NEEDLESS("ORRERY_TEST_*", "read by the test-suite"),
	NEEDLESS("ORRERY_RUN_*", "read by the test-suite"),
	NEEDLESS("STARPU_FXT_EVENTS", "all events are recorded"),
	MISSED("STARPU_PROF_PAPI_EVENTS", "counters of PAPI are not offered"),
	MISSED("STARPU_IDLE_FILE", "see STARPU_WORKER_STATS"),
	MISSED("STARPU_MAX_MEMORY_USE", "`orrery report` draws memory over time"),
	MISSED("STARPU_TASK_BREAK_ON_*", "set a breakpoint in the kernel or callback"),
	MISSED("STARPU_EXPECTED_TRANSFER_TIME_WRITEBACK",
	       "the way back of results is not in predictions"),
	MISSED("STARPU_COMBINED_WORKERS_LEVEL",
	       "programs or policies name the workers that combine"),
	MISSED("STARPU_LOGFILENAME", "there is no log of the library's own steps"),
	MISSED("STARPU_MINIMUM_CLEAN_BUFFERS",
	       "values leave a memory when room is needed"),
	MISSED("STARPU_TARGET_CLEAN_BUFFERS",
	       "values leave a memory when room is needed"),
	MISSED("STARPU_NTCPIP_*", TCPIP),
	MISSED("STARPU_NTCPIPMSTHREADS", TCPIP),
	MISSED("STARPU_TCPIP_*", TCPIP),
	MISSED("STARPU_NHIP", OTHER_DEVICES),
	MISSED("STARPU_NOPENCL", OTHER_DEVICES),
	MISSED("STARPU_NMAX_FPGA", OTHER_DEVICES),
	MISSED("STARPU_NWORKER_PER_HIP", OTHER_DEVICES),
	MISSED("STARPU_HIP_*", OTHER_DEVICES),
	MISSED("STARPU_OPENCL_*", OTHER_DEVICES),
	MISSED("STARPU_WORKERS_HIPID", OTHER_DEVICES),
	MISSED("STARPU_WORKERS_OPENCLID", OTHER_DEVICES),
	MISSED("STARPU_WORKERS_MAX_FPGAID", OTHER_DEVICES),
	MISSED("STARPU_LIMIT_HIP_*", OTHER_DEVICES),
	MISSED("STARPU_LIMIT_OPENCL_*", OTHER_DEVICES),
	MISSED("STARPU_LIMIT_MAX_FPGA_MEM", OTHER_DEVICES),
	MISSED("STARPU_ENABLE_HIP_*", OTHER_DEVICES),
	MISSED("STARPU_PERF_MODEL_HOMOGENEOUS_*", OTHER_DEVICES),
	MISSED("STARPU_HETEROPRIO_*", "heteroprio is told by starpu_heteroprio_*()"),
	MISSED("STARPU_AUTOHETEROPRIO_*", "heteroprio orders by performance models"),
	MISSED("STARPU_LAHETEROPRIO_*", "heteroprio orders by performance models"),
	MISSED("STARPU_DARTS_*", EXPERIMENTAL),
	MISSED("STARPU_SCHED_OUTPUT", EXPERIMENTAL),
	MISSED("STARPU_SCHED_PRINT*", EXPERIMENTAL),
	MISSED("STARPU_RECURSIVE_TASK*", EXPERIMENTAL),
	MISSED("STARPU_SPLITTER_RATIO", EXPERIMENTAL),
	MISSED("STARPU_NUM_LEVELS_OF_TASKS", EXPERIMENTAL),
	MISSED("STARPU_DATA_NEED_DUMP", EXPERIMENTAL),
	MISSED("STARPU_PROFILING_TASK", EXPERIMENTAL),
	MISSED("STARPU_DATA_LOCALITY_ENFORCE", EXPERIMENTAL),
	MISSED("STARPU_WINDOW_TIME_SIZE", "StarPU's hypervisor is not offered"),
};

enum {
	NUNREAD = sizeof(unread_table) / sizeof(unread_table[0]),
	LONGEST_NAME = EDITS_LONGEST
};

static int is_like(const char *name, const char *pattern)
{
	const char *star = strchr(pattern, '*');

	return star ? !strncmp(name, pattern, (size_t)(star - pattern))
		    : !strcmp(name, pattern);
}

static const struct unread *find_unread(const char *name)
{
	for (int i = 0; i < NUNREAD; i++)
		if (is_like(name, unread_table[i].name))
			return &unread_table[i];
	return NULL;
}

static int is_knob(const char *name)
{
	const char *knob;

	for (int i = 0; (knob = knobs_name(i)); i++)
		if (!strcmp(name, knob))
			return 1;
	return 0;
}

/* The knob that is at most three letters away, the nearest one; else NULL. */
static const char *nearest_knob(const char *name)
{
	const char *knob, *nearest = NULL;
	int least = 4;

	for (int i = 0; (knob = knobs_name(i)); i++) {
		int away = edits_between(name, knob);

		if (away < least) {
			least = away;
			nearest = knob;
		}
	}
	return nearest;
}

/* Is the value one that asks for nothing? */
static int is_off(const char *value)
{
	return !*value || !strcmp(value, "0") || !strcmp(value, "-1");
}

static void complain_of(const char *name, const char *value)
{
	const struct unread *unread = find_unread(name);
	const char *nearest;

	if (unread && (!unread->is_missed || is_off(value)))
		return;
	if (unread) {
		orr_complain(ORR_NO_RANK, "%s=%s has no effect: %s", name, value,
			     unread->why);
		return;
	}
	nearest = nearest_knob(name);
	orr_complain(
		ORR_NO_RANK,
		"%s=%s has no effect: no such variable is known here or of StarPU%s%s%s "
		"(all: doc/knobs.md; not said with STARPU_SILENT=1)",
		name, value, nearest ? "; is " : "", nearest ? nearest : "",
		nearest ? " meant?" : "");
}

static int is_ours(const char *name)
{
	return !strncmp(name, "STARPU_", 7) || !strncmp(name, "ORRERY_", 7) ||
	       !strncmp(name, "LB_HEAT_", 8);
}

void environment_complain(void)
{
	char name[LONGEST_NAME + 1];

	for (char **at = environ; at && *at; at++) {
		const char *equals = strchr(*at, '=');

		if (!is_ours(*at))
			continue;
		if (!equals || equals - *at > LONGEST_NAME)
			continue;
		memcpy(name, *at, (size_t)(equals - *at));
		name[equals - *at] = '\0';
		if (!is_knob(name))
			complain_of(name, equals + 1);
	}
}

void environment_print_manual(FILE *out)
{
	fprintf(out, "| variable | effect | because |\n|---|---|---|\n");
	for (int i = 0; i < NUNREAD; i++)
		if (!strncmp(unread_table[i].name, "STARPU_", 7))
			fprintf(out, "| %s | %s | %s |\n", unread_table[i].name,
				unread_table[i].is_missed ? "none, said at start"
							  : "none needed",
				unread_table[i].why);
}
