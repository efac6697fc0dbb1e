/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <smpi/smpi_helpers_internal.h>

/*
 * leave_fortran.c - "stop" and "error stop" of Fortran end a rank as exit() does.
 *
 * libgfortran's own call the C library's exit(), which would end the process of all
 * ranks. Programs find ours first, as in clock.c.
 */
void _gfortran_stop_numeric(int code, bool is_quiet);
void _gfortran_stop_string(const char *text, size_t length, bool is_quiet);
void _gfortran_error_stop_numeric(int code, bool is_quiet);
void _gfortran_error_stop_string(const char *text, size_t length, bool is_quiet);
void _gfortran_exit_i4(const int32_t *status);
void _gfortran_exit_i8(const int64_t *status);

/* "stop" without a code has no text. */
static void say(const char *word, const char *text, size_t length)
{
	fprintf(stderr, "%s %.*s\n", word, (int)length, text);
}

static void say_number(const char *word, int code)
{
	char text[16];

	say(word, text, (size_t)snprintf(text, sizeof(text), "%d", code));
}

void _gfortran_stop_numeric(int code, bool is_quiet)
{
	if (!is_quiet)
		say_number("STOP", code);
	smpi_exit(code);
}

void _gfortran_stop_string(const char *text, size_t length, bool is_quiet)
{
	if (text && !is_quiet)
		say("STOP", text, length);
	smpi_exit(EXIT_SUCCESS);
}

void _gfortran_error_stop_numeric(int code, bool is_quiet)
{
	if (!is_quiet)
		say_number("ERROR STOP", code);
	smpi_exit(code);
}

void _gfortran_error_stop_string(const char *text, size_t length, bool is_quiet)
{
	if (!is_quiet)
		say("ERROR STOP", text ? text : "", text ? length : 0);
	smpi_exit(EXIT_FAILURE);
}

void _gfortran_exit_i4(const int32_t *status)
{
	smpi_exit(status ? *status : EXIT_SUCCESS);
}

void _gfortran_exit_i8(const int64_t *status)
{
	smpi_exit(status ? (int)*status : EXIT_SUCCESS);
}
