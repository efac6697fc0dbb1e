#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The Orrery authors
# Creates ./configure.  Needs the Debian packages autoconf, automake, libtool, pkgconf.
cd "$(dirname "$0")" && exec autoreconf --install --force
