/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/newfile.h"
#include "core/model/model_file.h"

/* A disk is full here when a file may not grow beyond a limit. */

static char folder[64], path[96];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/orrery-newfile-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/file", folder);
	signal(SIGXFSZ, SIG_IGN);
	return 0;
}

static void limit(rlim_t bytes)
{
	struct rlimit room;

	getrlimit(RLIMIT_FSIZE, &room);
	room.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &room), 0);
}

static int count_files(void)
{
	DIR *stream = opendir(folder);
	struct dirent *entry;
	int n = 0;

	while ((entry = readdir(stream)))
		n += entry->d_name[0] != '.';
	closedir(stream);
	return n;
}

static int remove_folder(void **state)
{
	(void)state;
	limit(RLIM_INFINITY);
	unlink(path);
	return rmdir(folder);
}

static int write_text(const char *where, const char *text, int times)
{
	struct newfile newfile;
	int ret = newfile_open(&newfile, where);

	if (ret)
		return ret;
	for (int i = 0; i < times; i++)
		fputs(text, newfile.file);
	return newfile_close(&newfile);
}

static void expect_content(const char *text)
{
	char seen[64] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_int_equal(fread(seen, 1, sizeof(seen) - 1, file), strlen(text));
	fclose(file);
	assert_string_equal(seen, text);
}

static void the_new_file_replaces_the_old(void **state)
{
	(void)state;
	assert_int_equal(write_text(path, "old", 1), 0);
	assert_int_equal(write_text(path, "new", 1), 0);
	expect_content("new");
	assert_int_equal(count_files(), 1);
}

static void a_full_disk_keeps_the_old_file(void **state)
{
	(void)state;
	assert_int_equal(write_text(path, "old", 1), 0);
	limit(1000);
	assert_int_equal(write_text(path, "a longer text ", 10000), -EFBIG);
	expect_content("old");
	assert_int_equal(count_files(), 1);
}

static void of_two_writers_one_wins(void **state)
{
	struct newfile first, second;

	(void)state;
	assert_int_equal(newfile_open(&first, path), 0);
	assert_int_equal(newfile_open(&second, path), 0);
	fputs("first", first.file);
	fputs("second", second.file);
	assert_int_equal(newfile_close(&second), 0);
	expect_content("second");
	assert_int_equal(newfile_close(&first), 0);
	expect_content("first");
	assert_int_equal(count_files(), 1);
}

static void a_device_is_written_in_place(void **state)
{
	(void)state;
	assert_int_equal(write_text("/dev/null", "text", 1), 0);
	assert_int_equal(write_text("/dev/full", "text", 1), -ENOSPC);
	assert_int_equal(write_text("/nowhere/file", "text", 1), -ENOENT);
}

static void a_full_disk_keeps_the_old_model(void **state)
{
	struct starpu_perfmodel_device device = {.type = STARPU_CPU_WORKER, .ncores = 1};
	struct starpu_perfmodel_arch arch = {.ndevices = 1, .devices = &device};
	struct model_data data = {0}, read = {0};
	struct model_arch *known;

	(void)state;
	known = model_data_add(&data, &arch, 0);
	model_arch_entry(known, 7, 1)->nsample = 1;
	assert_int_equal(model_data_write(&data, path, -1), 0);
	for (uint32_t i = 0; i < 1000; i++)
		model_arch_entry(known, 100 + i, 1)->nsample = 1;
	limit(4096);
	assert_int_equal(model_data_write(&data, path, -1), -EFBIG);
	limit(RLIM_INFINITY);
	assert_int_equal(model_data_read(&read, path, -1), 0);
	assert_int_equal(read.combinations[0]->implementations[0]->nentries, 1);
	assert_int_equal(count_files(), 1);
	model_data_clear(&data);
	model_data_clear(&read);
}

int main(void)
{
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		CLAIM(the_new_file_replaces_the_old),
		CLAIM(a_full_disk_keeps_the_old_file),
		CLAIM(of_two_writers_one_wins),
		CLAIM(a_device_is_written_in_place),
		CLAIM(a_full_disk_keeps_the_old_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
