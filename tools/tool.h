/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_TOOLS_TOOL_H
#define ORR_TOOLS_TOOL_H

/* tool.h - what the programs with StarPU's names have in common. */

/* Start the library in silence, or end the program with a sentence. */
void tool_init(void);
/* These end the program: with status 0 after a text on stdout, 1 after one on stderr. */
_Noreturn void tool_help(const char *usage);
_Noreturn void tool_version(const char *name);
_Noreturn void tool_misused(const char *usage);
_Noreturn __attribute__((format(printf, 1, 2))) void tool_refuse(const char *format, ...);

#endif
