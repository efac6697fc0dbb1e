#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
#
# The table of functions in doc/status.md, the headers and the libraries say the same.
exec "$(dirname "$0")/../../scripts/make-status-table" --check
