/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */

/*
 * Attributes, assertions and atomic operations.  Everything is a macro or an
 * inline function: nothing here needs the library.
 */

#ifndef STARPU_UTIL_H
#define STARPU_UTIL_H

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#ifdef __GLIBC__
#include <execinfo.h>
#endif

#include <starpu_config.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Attributes
 */

/** Non-zero when the compiler claims at least version maj.min of GCC. */
#define STARPU_GNUC_PREREQ(maj, min)                                                     \
	((__GNUC__ << 16) + __GNUC_MINOR__ >= ((maj) << 16) + (min))

#define STARPU_UNLIKELY(expr)               (__builtin_expect(!!(expr), 0))
#define STARPU_LIKELY(expr)                 (__builtin_expect(!!(expr), 1))
#define STARPU_ATTRIBUTE_UNUSED             __attribute__((unused))
#define STARPU_ATTRIBUTE_NORETURN           __attribute__((noreturn))
#define STARPU_ATTRIBUTE_VISIBILITY_DEFAULT __attribute__((visibility("default")))
#define STARPU_VISIBILITY_PUSH_HIDDEN       _Pragma("GCC visibility push(hidden)")
#define STARPU_VISIBILITY_POP               _Pragma("GCC visibility pop")
#define STARPU_ATTRIBUTE_MALLOC             __attribute__((malloc))
#define STARPU_ATTRIBUTE_WARN_UNUSED_RESULT __attribute__((warn_unused_result))
#define STARPU_ATTRIBUTE_PURE               __attribute__((pure))
#define STARPU_ATTRIBUTE_ALIGNED(size)      __attribute__((aligned(size)))
#define STARPU_ATTRIBUTE_FORMAT(type, string, first)                                     \
	__attribute__((format(type, string, first)))
#define STARPU_ATTRIBUTE_CALLOC_SIZE(num, size) __attribute__((alloc_size(num, size)))
#define STARPU_ATTRIBUTE_ALLOC_SIZE(size)       __attribute__((alloc_size(size)))
#define STARPU_INLINE                           __inline__
#define STARPU_WARN_UNUSED_RESULT               STARPU_ATTRIBUTE_WARN_UNUSED_RESULT

/* The library itself and clients that ask for the old names get no warning. */
#if defined(BUILDING_STARPU) || defined(STARPU_USE_DEPRECATED_API) ||                    \
	defined(STARPU_USE_DEPRECATED_ONE_ZERO_API)
#define STARPU_DEPRECATED
#else
#define STARPU_DEPRECATED __attribute__((__deprecated__))
#endif

/*
 * Assertions
 */

#define STARPU_BACKTRACE_LENGTH 32

/** Write the call stack of the calling thread on standard error. */
#ifdef __GLIBC__
#define STARPU_DUMP_BACKTRACE()                                                          \
	do {                                                                             \
		void *starpu_frames_[STARPU_BACKTRACE_LENGTH];                           \
		int starpu_nframes_ =                                                    \
			backtrace(starpu_frames_, STARPU_BACKTRACE_LENGTH);              \
		backtrace_symbols_fd(starpu_frames_, starpu_nframes_, 2);                \
	} while (0)
#else
#define STARPU_DUMP_BACKTRACE()                                                          \
	do {                                                                             \
	} while (0)
#endif

/*
 * Print a text in printf form between before and after.  In these macros `...`
 * starts with the format, so that strict ISO mode accepts a text without values.
 */
#define STARPU_PRINT_(before, after, ...)                                                \
	do {                                                                             \
		fprintf before;                                                          \
		fprintf(stderr, __VA_ARGS__);                                            \
		fputs(after, stderr);                                                    \
		fflush(stderr);                                                          \
	} while (0)

/** End the process, printing a text in printf form, when x is false. */
#define STARPU_ASSERT_MSG_ALWAYS(x, ...)                                                 \
	do {                                                                             \
		if (STARPU_UNLIKELY(!(x))) {                                             \
			STARPU_DUMP_BACKTRACE();                                         \
			STARPU_PRINT_((stderr, "\n[starpu][%s][assert failure] ",        \
				       __starpu_func__),                                 \
				      "\n\n", __VA_ARGS__);                              \
			abort();                                                         \
		}                                                                        \
	} while (0)

#ifdef STARPU_NO_ASSERT
/* x and the arguments are compiled but never evaluated. */
#define STARPU_ASSERT(x)                                                                 \
	do {                                                                             \
		if (0)                                                                   \
			(void)(x);                                                       \
	} while (0)
#define STARPU_ASSERT_MSG(x, ...)                                                        \
	do {                                                                             \
		if (0)                                                                   \
			STARPU_ASSERT_MSG_ALWAYS(x, __VA_ARGS__);                        \
	} while (0)
#define STARPU_ASSERT_ACCESSIBLE(ptr) STARPU_ASSERT(ptr)
#else
#define STARPU_ASSERT(x)                                                                 \
	do {                                                                             \
		if (STARPU_UNLIKELY(!(x))) {                                             \
			STARPU_DUMP_BACKTRACE();                                         \
			fprintf(stderr, "%s:%d: %s: assertion \"%s\" failed\n",          \
				__FILE__, __LINE__, __starpu_func__, #x);                \
			fflush(stderr);                                                  \
			abort();                                                         \
		}                                                                        \
	} while (0)
#define STARPU_ASSERT_MSG(x, ...) STARPU_ASSERT_MSG_ALWAYS(x, __VA_ARGS__)
/** Read one byte at ptr, so that a wild pointer faults here and not later. */
#define STARPU_ASSERT_ACCESSIBLE(ptr)                                                    \
	do {                                                                             \
		volatile char starpu_byte_ STARPU_ATTRIBUTE_UNUSED =                     \
			*(const volatile char *)(ptr);                                   \
	} while (0)
#endif

/** Refuse to compile when the constant expression x is false. */
#ifdef __cplusplus
#define STARPU_STATIC_ASSERT(x) static_assert(x, #x)
#else
#define STARPU_STATIC_ASSERT(x) _Static_assert(x, #x)
#endif

/** End the process with a message that names the place. */
#define STARPU_ABORT()                                                                   \
	do {                                                                             \
		STARPU_DUMP_BACKTRACE();                                                 \
		fprintf(stderr, "[starpu][abort][%s()@%s:%d]\n", __starpu_func__,        \
			__FILE__, __LINE__);                                             \
		fflush(stderr);                                                          \
		abort();                                                                 \
	} while (0)

/** The same, followed by a text in printf form. */
#define STARPU_ABORT_MSG(...)                                                            \
	do {                                                                             \
		STARPU_DUMP_BACKTRACE();                                                 \
		STARPU_PRINT_((stderr, "[starpu][abort][%s()@%s:%d] ", __starpu_func__,  \
			       __FILE__, __LINE__),                                      \
			      "\n", __VA_ARGS__);                                        \
		abort();                                                                 \
	} while (0)

/*
 * The two below are plain blocks, as programs that put no semicolon behind them
 * before an else rely on.  The text, in printf form, names the call.
 */

/** End the process when err, 0 or a negative errno, is not 0. */
#define STARPU_CHECK_RETURN_VALUE(err, ...)                                              \
	{                                                                                \
		int starpu_err_ = (int)(err);                                            \
		if (STARPU_UNLIKELY(starpu_err_ != 0)) {                                 \
			STARPU_PRINT_(                                                   \
				(stderr,                                                 \
				 "[starpu] Unexpected value: <%d:%s> returned for ",     \
				 starpu_err_, strerror(-starpu_err_)),                   \
				"\n", __VA_ARGS__);                                      \
			STARPU_ABORT();                                                  \
		}                                                                        \
	}

/** End the process when err is not value. */
#define STARPU_CHECK_RETURN_VALUE_IS(err, value, ...)                                    \
	{                                                                                \
		int starpu_err_ = (int)(err);                                            \
		int starpu_want_ = (int)(value);                                         \
		if (STARPU_UNLIKELY(starpu_err_ != starpu_want_)) {                      \
			STARPU_PRINT_(                                                   \
				(stderr,                                                 \
				 "[starpu] Unexpected value: <%d!=%d:%s> returned for ", \
				 starpu_err_, starpu_want_, strerror(-starpu_err_)),     \
				"\n", __VA_ARGS__);                                      \
			STARPU_ABORT();                                                  \
		}                                                                        \
	}

/** Copy the text of errnum into buf, cut to buflen bytes with its end mark. */
#define starpu_strerror_r(errnum, buf, buflen)                                           \
	do {                                                                             \
		snprintf((buf), (buflen), "%s", strerror(errnum));                       \
	} while (0)

/*
 * Atomic operations: sequentially consistent unless said otherwise.  The forms
 * with a size in their name differ from the others by intention only, since
 * the operand's type decides.
 */

#define STARPU_HAVE_CMPXCHG   1
#define STARPU_HAVE_XCHG      1
#define STARPU_HAVE_CMPXCHG32 1
#define STARPU_HAVE_XCHG32    1
#define STARPU_HAVE_CMPXCHGL  1
#define STARPU_HAVE_XCHGL     1
#define STARPU_HAVE_CMPXCHG64 1
#define STARPU_HAVE_XCHG64    1

/* Additions return the new value, disjunctions the one that was there. */
#define STARPU_ATOMIC_ADD(ptr, value)   (__sync_add_and_fetch((ptr), (value)))
#define STARPU_ATOMIC_ADDL(ptr, value)  (__sync_add_and_fetch((ptr), (value)))
#define STARPU_ATOMIC_ADD64(ptr, value) (__sync_add_and_fetch((ptr), (value)))
#define STARPU_ATOMIC_OR(ptr, value)    (__sync_fetch_and_or((ptr), (value)))
#define STARPU_ATOMIC_ORL(ptr, value)   (__sync_fetch_and_or((ptr), (value)))
#define STARPU_ATOMIC_OR64(ptr, value)  (__sync_fetch_and_or((ptr), (value)))

/* These return whether the exchange took place. */
#define STARPU_BOOL_COMPARE_AND_SWAP(ptr, old, value)                                    \
	(__sync_bool_compare_and_swap((ptr), (old), (value)))
#define STARPU_BOOL_COMPARE_AND_SWAP32(ptr, old, value)                                  \
	STARPU_BOOL_COMPARE_AND_SWAP(ptr, old, value)
#define STARPU_BOOL_COMPARE_AND_SWAP64(ptr, old, value)                                  \
	STARPU_BOOL_COMPARE_AND_SWAP(ptr, old, value)
#define STARPU_BOOL_COMPARE_AND_SWAP_PTR(ptr, old, value)                                \
	STARPU_BOOL_COMPARE_AND_SWAP(ptr, old, value)

/* These return the value found. */
#define STARPU_VAL_COMPARE_AND_SWAP(ptr, old, value)                                     \
	(__sync_val_compare_and_swap((ptr), (old), (value)))
#define STARPU_VAL_COMPARE_AND_SWAP32(ptr, old, value)                                   \
	STARPU_VAL_COMPARE_AND_SWAP(ptr, old, value)
#define STARPU_VAL_COMPARE_AND_SWAP64(ptr, old, value)                                   \
	STARPU_VAL_COMPARE_AND_SWAP(ptr, old, value)
#define STARPU_VAL_COMPARE_AND_SWAP_PTR(ptr, old, value)                                 \
	STARPU_VAL_COMPARE_AND_SWAP(ptr, old, value)
#define STARPU_VAL_EXCHANGE(ptr, value)                                                  \
	(__atomic_exchange_n((ptr), (value), __ATOMIC_SEQ_CST))
#define STARPU_VAL_EXCHANGEL(ptr, value)  STARPU_VAL_EXCHANGE(ptr, value)
#define STARPU_VAL_EXCHANGE32(ptr, value) STARPU_VAL_EXCHANGE(ptr, value)
#define STARPU_VAL_EXCHANGE64(ptr, value) STARPU_VAL_EXCHANGE(ptr, value)

/* Acquire and release halves of a one-word lock. */
#define STARPU_TEST_AND_SET(ptr, value) (__sync_lock_test_and_set((ptr), (value)))
#define STARPU_RELEASE(ptr)             (__sync_lock_release((ptr)))

#define STARPU_SYNCHRONIZE() __sync_synchronize()
#define STARPU_RMB()         __sync_synchronize()
#define STARPU_WMB()         __sync_synchronize()

/*
 * Define starpu_atomic_NAME(ptr, value): replace *ptr by expr, an expression of
 * `old` and `value`, in one step, and return the new value.
 */
#define STARPU_ATOMIC_FUNCTION_(suffix, type, name, expr)                                \
	static __starpu_inline type starpu_atomic_##name##suffix(type *ptr, type value)  \
	{                                                                                \
		type old, next;                                                          \
		do {                                                                     \
			old = *ptr;                                                      \
			next = expr;                                                     \
		} while (!STARPU_BOOL_COMPARE_AND_SWAP(ptr, old, next));                 \
		return next;                                                             \
	}
#define STARPU_ATOMIC_SOMETHING(name, expr)                                              \
	STARPU_ATOMIC_FUNCTION_(, unsigned, name, expr)
#define STARPU_ATOMIC_SOMETHINGL(name, expr)                                             \
	STARPU_ATOMIC_FUNCTION_(l, unsigned long, name, expr)
#define STARPU_ATOMIC_SOMETHING64(name, expr)                                            \
	STARPU_ATOMIC_FUNCTION_(64, uint64_t, name, expr)

/** Bytes of a cache line, to keep data of different threads apart. */
#if defined(__powerpc__) || defined(__ppc__) || defined(__ia64__)
#define STARPU_CACHELINE_SIZE 128
#elif defined(__s390__) || defined(__s390x__)
#define STARPU_CACHELINE_SIZE 256
#elif defined(__i386__) || defined(__x86_64__)
#define STARPU_CACHELINE_SIZE 64
#else
#define STARPU_CACHELINE_SIZE 1024
#endif

/* The operand that is returned is evaluated twice. */
#define STARPU_MIN(a, b) ((a) < (b) ? (a) : (b))
#define STARPU_MAX(a, b) ((a) < (b) ? (b) : (a))

/** An address that is never valid. */
#define STARPU_POISON_PTR ((void *)0xdeadbeef)

#ifdef __cplusplus
}
#endif

#endif /* STARPU_UTIL_H */
