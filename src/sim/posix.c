/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include "sim/pthreads.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <simgrid/actor.h>

/*
 * posix.c - who waits in a function of the C library waits in simulated time.
 *
 * All ranks are one thread of the process: a main that blocks in sem_wait() blocks them
 * all, and who was to post can never run.  Ours come first when the program's symbols are
 * looked up, as in clock.c.  The objects stay the C library's, so that any thread can use
 * them; only who would block waits here, by the object's address, until a thread,
 * callback or kernel has changed it.
 *
 * Where the process has threads that the simulation does not know, waits are the C
 * library's: one of those may be who is waited for.
 */

/* Looks for a thread to be gone, of a second or so together. */
enum { MOST_LOOKS = 20000 };

/* The oldest version of a condition's functions is for another layout. */
static void *next(const char *name)
{
	void *found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");

	return found ? found : dlsym(RTLD_NEXT, name);
}

#define FIND(member, name) *(void **)&own->member = next(name)

static void find_thread_functions(struct sim_posix *own)
{
	FIND(create, "pthread_create");
	FIND(join, "pthread_join");
	FIND(tryjoin, "pthread_tryjoin_np");
	FIND(timedjoin, "pthread_timedjoin_np");
	FIND(clockjoin, "pthread_clockjoin_np");
	FIND(detach, "pthread_detach");
	FIND(self, "pthread_self");
	FIND(cancel, "pthread_cancel");
	FIND(testcancel, "pthread_testcancel");
	FIND(setcancelstate, "pthread_setcancelstate");
	FIND(setcanceltype, "pthread_setcanceltype");
	FIND(register_cancel, "__pthread_register_cancel");
	FIND(unregister_cancel, "__pthread_unregister_cancel");
	FIND(unwind_next, "__pthread_unwind_next");
	FIND(thread_atexit, "__cxa_thread_atexit");
	FIND(make_ready, "_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv");
	FIND(notify_at_exit, "_ZSt25notify_all_at_thread_exitRSt18condition_variableSt11"
			     "unique_lockISt5mutexE");
	FIND(setname, "pthread_setname_np");
	FIND(getname, "pthread_getname_np");
	FIND(setaffinity, "pthread_setaffinity_np");
	FIND(getaffinity, "pthread_getaffinity_np");
	FIND(setschedparam, "pthread_setschedparam");
	FIND(getschedparam, "pthread_getschedparam");
	FIND(setschedprio, "pthread_setschedprio");
	FIND(getcpuclockid, "pthread_getcpuclockid");
	FIND(getattr, "pthread_getattr_np");
	FIND(kill, "pthread_kill");
	FIND(is_alone, "__libc_single_threaded");
	FIND(cxa_atexit, "__cxa_atexit");
}

static struct sim_posix *find_all(void)
{
	struct sim_posix *own = orr_alloc(sizeof(*own));

	FIND(syscall, "syscall");
	find_thread_functions(own);
	FIND(once, "pthread_once");
	FIND(guard_acquire, "__cxa_guard_acquire");
	FIND(guard_release, "__cxa_guard_release");
	FIND(guard_abort, "__cxa_guard_abort");
	FIND(mutex_lock, "pthread_mutex_lock");
	FIND(mutex_trylock, "pthread_mutex_trylock");
	FIND(mutex_timedlock, "pthread_mutex_timedlock");
	FIND(mutex_clocklock, "pthread_mutex_clocklock");
	FIND(mutex_unlock, "pthread_mutex_unlock");
	FIND(rdlock, "pthread_rwlock_rdlock");
	FIND(wrlock, "pthread_rwlock_wrlock");
	FIND(timedrdlock, "pthread_rwlock_timedrdlock");
	FIND(timedwrlock, "pthread_rwlock_timedwrlock");
	FIND(clockrdlock, "pthread_rwlock_clockrdlock");
	FIND(clockwrlock, "pthread_rwlock_clockwrlock");
	FIND(tryrdlock, "pthread_rwlock_tryrdlock");
	FIND(trywrlock, "pthread_rwlock_trywrlock");
	FIND(rwlock_unlock, "pthread_rwlock_unlock");
	FIND(spin_trylock, "pthread_spin_trylock");
	FIND(spin_lock, "pthread_spin_lock");
	FIND(spin_unlock, "pthread_spin_unlock");
	FIND(cond_wait, "pthread_cond_wait");
	FIND(cond_timedwait, "pthread_cond_timedwait");
	FIND(cond_clockwait, "pthread_cond_clockwait");
	FIND(cond_signal, "pthread_cond_signal");
	FIND(cond_broadcast, "pthread_cond_broadcast");
	FIND(barrier_init, "pthread_barrier_init");
	FIND(barrier_destroy, "pthread_barrier_destroy");
	FIND(barrier_wait, "pthread_barrier_wait");
	FIND(sem_trywait, "sem_trywait");
	FIND(sem_wait, "sem_wait");
	FIND(sem_timedwait, "sem_timedwait");
	FIND(sem_clockwait, "sem_clockwait");
	FIND(sem_post, "sem_post");
	FIND(sched_yield, "sched_yield");
	FIND(key_create, "pthread_key_create");
	FIND(key_delete, "pthread_key_delete");
	FIND(setspecific, "pthread_setspecific");
	FIND(getspecific, "pthread_getspecific");
	own->keys_mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	return own;
}

struct sim_posix *posix_get(void)
{
	struct sim *sim = sim_get();

	if (!sim->posix)
		sim->posix = find_all();
	return sim->posix;
}

/* ---- strangers ------------------------------------------------------- */

/* Each actor may have a thread, by SimGrid's configuration. */
int posix_shares_thread(void)
{
	struct sim_posix *own = posix_get();
	char factory[32];

	if (!own->threads_count)
		own->threads_count = kernel_config("contexts/factory", factory,
						   sizeof(factory)) == 0 &&
						     strcmp(factory, "thread") != 0
					     ? 1
					     : -1;
	return own->threads_count > 0;
}

/* The links to a directory count those in it, which are the threads. */
static int nothers(void)
{
	struct stat tasks;

	return stat("/proc/self/task", &tasks) == 0 ? (int)tasks.st_nlink - 3 : 0;
}

int posix_has_strangers(void)
{
	struct sim_posix *own = posix_get();

	return sim_is_stranger() ||
	       (posix_shares_thread() ? nothers() > 0 : own->has_created);
}

int posix_create_stranger(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*routine)(void *), void *arg)
{
	struct sim_posix *own = posix_get();
	int before = nothers();

	own->has_created = 1;
	if (own->nothers_most < before)
		own->nothers_most = before;
	own->nothers_most++;
	return own->create(thread, attr, routine, arg);
}

/* Who has been joined may be there for a moment, and would be taken for somebody who can
 * be waited for.  Threads that the C library made are not among those counted. */
int posix_join_stranger(pthread_t thread, void **result)
{
	struct sim_posix *own = posix_get();
	int status = own->join(thread, result);

	if (status != 0)
		return status;
	own->nothers_most--;
	for (int i = 0; i < MOST_LOOKS && nothers() > own->nothers_most; i++)
		own->syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0,
			     &(const struct timespec){.tv_nsec = 10000}, NULL);
	return 0;
}

void posix_not_alone(void)
{
	char *is_alone = posix_get()->is_alone;

	if (is_alone)
		*is_alone = 0;
}

/* May the caller's wait be one in simulated time?  Where a rank has threads of its own in
 * the simulation it is one of these that it waits for, whatever others there are. */
int posix_is_simulated(void)
{
	return !sim_is_child() && (!posix_has_strangers() || pthreads_are_here());
}

/* ---- waiting --------------------------------------------------------- */

struct posix_rank *posix_rank(int is_needed)
{
	struct sim_rank *rank = sim_rank_self();

	if (!rank)
		return NULL;
	if (!rank->posix && is_needed)
		rank->posix = orr_alloc(sizeof(*rank->posix));
	return rank->posix;
}

void posix_forget(struct sim_rank *rank)
{
	struct posix_rank *mine = rank->posix;

	for (struct posix_barrier *b = mine ? mine->barriers : NULL, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	for (struct posix_held *held = mine ? mine->held : NULL, *next; held;
	     held = next) {
		next = held->next;
		free(held);
		posix_get()->nheld--;
	}
	free(mine);
}

static struct waiters *join(struct waiter *waiter, const char *who)
{
	struct posix_rank *mine = sim_get()->in_kernel ? NULL : posix_rank(1);
	struct waiters *waiters = mine ? &mine->waiters : NULL;

	waiters_join(waiters, waiter, who);
	posix_get()->nwaiting++;
	return waiters;
}

static int await(struct waiters *waiters, struct waiter *waiter, double until_s,
		 const char *who)
{
	int status = waiters_await(waiters, waiter, until_s, who);

	posix_get()->nwaiting--;
	return status;
}

int posix_wait(const void *object, double until_s, const char *who)
{
	struct waiter waiter = {.object = object};

	return await(join(&waiter, who), &waiter, until_s, who);
}

int posix_wait_to_use(const void *object, int writes, double until_s, const char *who)
{
	struct waiter waiter = {.object = object, .writes = writes};

	return await(join(&waiter, who), &waiter, until_s, who);
}

/* From here to await() pthread_cancel() may wake it. */
static struct waiters *join_to_leave(struct waiter *waiter, const char *who)
{
	struct waiters *waiters = join(waiter, who);

	pthreads_waits(waiters, waiter);
	return waiters;
}

static int await_to_leave(struct waiters *waiters, struct waiter *waiter, double until_s,
			  const char *who)
{
	int status = await(waiters, waiter, until_s, who);

	pthreads_waits(NULL, NULL);
	return status;
}

int posix_wait_to_leave(const void *object, double until_s, const char *who)
{
	struct waiter waiter = {.object = object};

	return await_to_leave(join_to_leave(&waiter, who), &waiter, until_s, who);
}

void posix_tried(void)
{
	if (posix_is_simulated())
		sim_tried();
}

int posix_wake(const void *object, int all)
{
	struct posix_rank *mine = posix_get()->nwaiting > 0 ? posix_rank(0) : NULL;

	if (!mine)
		return 0;
	return all ? waiters_wake_all_of(&mine->waiters, object)
		   : waiters_wake_first_of(&mine->waiters, object);
}

/* ---- conditions ------------------------------------------------------ */

/* Who gets the mutex runs at once, and may signal. */
static int cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, double until_s,
		     const char *who)
{
	struct waiter waiter = {.object = cond};
	struct waiters *waiters;
	int status;

	pthreads_test_cancel();
	waiters = join_to_leave(&waiter, who);
	status = pthread_mutex_unlock(mutex);
	if (status != 0) {
		waiters_leave(waiters, &waiter);
		pthreads_waits(NULL, NULL);
		posix_get()->nwaiting--;
		return status;
	}
	status = await_to_leave(waiters, &waiter, until_s, who);
	pthread_mutex_lock(mutex);
	pthreads_test_cancel();
	return status;
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	if (!posix_is_simulated())
		return posix_get()->cond_wait(cond, mutex);
	return cond_wait(cond, mutex, -1, "pthread_cond_wait");
}

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
			   const struct timespec *date)
{
	if (!posix_is_simulated() || !posix_is_date(date))
		return posix_get()->cond_timedwait(cond, mutex, date);
	return cond_wait(cond, mutex, posix_date_s(date), "pthread_cond_timedwait");
}

int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
			   const struct timespec *date)
{
	if (!posix_is_simulated() || !posix_is_date(date))
		return posix_get()->cond_clockwait(cond, mutex, clock, date);
	return cond_wait(cond, mutex, posix_date_s(date), "pthread_cond_clockwait");
}

int pthread_cond_signal(pthread_cond_t *cond)
{
	posix_wake(cond, 0);
	return posix_get()->cond_signal(cond);
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
	posix_wake(cond, 1);
	return posix_get()->cond_broadcast(cond);
}

/* Those of std::condition_variable are in the C++ library, which does not look here.  It
 * begins with the C library's condition; a lock with a pointer to its mutex, which is the
 * C library's. */
void cpp_cond_wait(pthread_cond_t *cond, pthread_mutex_t *const *lock) __asm__(
	"_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");
void cpp_notify_one(pthread_cond_t *cond) __asm__(
	"_ZNSt18condition_variable10notify_oneEv");
void cpp_notify_all(pthread_cond_t *cond) __asm__(
	"_ZNSt18condition_variable10notify_allEv");

void cpp_cond_wait(pthread_cond_t *cond, pthread_mutex_t *const *lock)
{
	pthread_cond_wait(cond, *lock);
}

void cpp_notify_one(pthread_cond_t *cond)
{
	pthread_cond_signal(cond);
}

void cpp_notify_all(pthread_cond_t *cond)
{
	pthread_cond_broadcast(cond);
}

/* ---- barriers -------------------------------------------------------- */

/* Where the pointer to the barrier's is, or to the end of the list. */
static struct posix_barrier **find(struct posix_rank *mine, const void *object)
{
	struct posix_barrier **at = &mine->barriers;

	while (*at && (*at)->object != object)
		at = &(*at)->next;
	return at;
}

static void forget(struct posix_rank *mine, const void *object)
{
	struct posix_barrier **at = mine ? find(mine, object) : NULL, *found;

	found = at ? *at : NULL;
	if (!found)
		return;
	*at = found->next;
	free(found);
}

int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr,
			 unsigned count)
{
	int status = posix_get()->barrier_init(barrier, attr, count);
	struct posix_rank *mine = posix_rank(1);
	struct posix_barrier *known;

	if (status != 0 || !mine)
		return status;
	forget(mine, barrier);
	known = orr_alloc(sizeof(*known));
	*known = (struct posix_barrier){
		.next = mine->barriers, .object = barrier, .count = count};
	mine->barriers = known;
	return 0;
}

int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
	forget(posix_rank(0), barrier);
	return posix_get()->barrier_destroy(barrier);
}

int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	struct sim_posix *own = posix_get();
	struct posix_rank *mine = posix_is_simulated() ? posix_rank(0) : NULL;
	struct posix_barrier *known = mine ? *find(mine, barrier) : NULL;

	if (!known)
		return own->barrier_wait(barrier);
	if (++known->narrived < known->count)
		return posix_wait(barrier, -1, "pthread_barrier_wait");
	known->narrived = 0;
	posix_wake(barrier, 1);
	return PTHREAD_BARRIER_SERIAL_THREAD;
}

/* ---- semaphores ------------------------------------------------------ */

int sem_trywait(sem_t *sem)
{
	int status = posix_get()->sem_trywait(sem);

	if (status != 0 && errno == EAGAIN) {
		posix_tried();
		errno = EAGAIN;
	}
	return status;
}

int sem_wait(sem_t *sem)
{
	while (posix_get()->sem_trywait(sem) != 0) {
		if (errno != EAGAIN)
			return -1;
		if (!posix_is_simulated())
			return posix_get()->sem_wait(sem);
		pthreads_test_cancel();
		posix_wait_to_leave(sem, -1, "sem_wait");
	}
	pthreads_test_cancel();
	return 0;
}

static int sem_wait_until(sem_t *sem, double until_s, const char *who)
{
	int (*trywait)(sem_t * sem) = posix_get()->sem_trywait;
	int status, is_late = 0;

	while ((status = trywait(sem)) != 0 && errno == EAGAIN && !is_late) {
		pthreads_test_cancel();
		is_late = posix_wait_to_leave(sem, until_s, who) != 0;
	}
	if (status != 0 && is_late)
		errno = ETIMEDOUT;
	return status;
}

int sem_timedwait(sem_t *sem, const struct timespec *date)
{
	if (!posix_is_simulated() || !posix_is_date(date))
		return posix_get()->sem_timedwait(sem, date);
	return sem_wait_until(sem, posix_date_s(date), "sem_timedwait");
}

int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *date)
{
	if (!posix_is_simulated() || !posix_is_date(date))
		return posix_get()->sem_clockwait(sem, clock, date);
	return sem_wait_until(sem, posix_date_s(date), "sem_clockwait");
}

int sem_post(sem_t *sem)
{
	int status = posix_get()->sem_post(sem);

	if (status == 0)
		posix_wake(sem, 0);
	return status;
}

/* ---- looking again and again ------------------------------------------ */

/* Who yields looks for what others do, which takes them time. */
int sched_yield(void)
{
	struct node *node;

	if (sim_get()->in_kernel || !posix_is_simulated())
		return posix_get()->sched_yield();
	node = plat_self();
	if (node)
		plat_pause(node->plat);
	else
		SIM_YIELDS(sg_actor_sleep_for(1e-6));
	return 0;
}

int thrd_yield_of_c11(void) __asm__("thrd_yield");

int thrd_yield_of_c11(void)
{
	return sched_yield();
}
