/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#define _GNU_SOURCE
#include "base/check.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/signals.h"

static void print_message(int rank, const char *format, va_list args)
{
	char text[2048];
	int used = 0;

	if (rank != ORR_NO_RANK)
		used = snprintf(text, sizeof(text), "[orrery][rank %d] ", rank);
	else
		used = snprintf(text, sizeof(text), "[orrery] ");
	vsnprintf(text + used, sizeof(text) - (size_t)used, format, args);
	fprintf(stderr, "%s\n", text);
	fflush(stderr);
}

/* Comes with SIGABRT. */
static const char told[] = "told";

void orr_abort(void)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = SIGABRT;
	info.si_code = SI_QUEUE;
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value.sival_ptr = (void *)(uintptr_t)told;
	syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), SIGABRT, &info);
	abort();
}

int orr_has_said_why(const siginfo_t *info)
{
	return info->si_code == SI_QUEUE && info->si_value.sival_ptr == told;
}

void orr_bug(const char *file, int line, const char *what)
{
	orr_complain(ORR_NO_RANK,
		     "%s:%d: internal error, this does not hold: %s. Please report it "
		     "with the program that shows it.",
		     file, line, what);
	abort(); /* Whose code it was is worth saying. */
}

void orr_complain(int rank, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_message(rank, format, args);
	va_end(args);
}

void orr_die(int rank, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_message(rank, format, args);
	va_end(args);
	orr_abort();
}

void *orr_alloc(size_t bytes)
{
	void *ptr = calloc(1, bytes ? bytes : 1);

	if (!ptr)
		orr_die(ORR_NO_RANK, "out of memory: %zu bytes refused", bytes);
	return ptr;
}

void *orr_alloc_lines(size_t bytes)
{
	size_t whole = (bytes + ORR_LINE_BYTES) & ~(size_t)(ORR_LINE_BYTES - 1);
	void *ptr = aligned_alloc(ORR_LINE_BYTES, whole);

	if (!ptr)
		orr_die(ORR_NO_RANK, "out of memory: %zu bytes refused", bytes);
	memset(ptr, 0, whole);
	return ptr;
}

void *orr_realloc(void *ptr, size_t bytes)
{
	void *grown = realloc(ptr, bytes);

	if (!grown && bytes)
		orr_die(ORR_NO_RANK, "out of memory: %zu bytes refused", bytes);
	return grown;
}

char *orr_strdup(const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *copy = orr_alloc(bytes);

	memcpy(copy, text, bytes);
	return copy;
}
