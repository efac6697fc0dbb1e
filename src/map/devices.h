/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Orrery authors */
#ifndef ORR_MAP_DEVICES_H
#define ORR_MAP_DEVICES_H

/*
 * devices.h - which cores are near to each GPU or network interface.
 *
 * Near are the cores at the place of the tree where the device's bus begins.  Devices
 * with the same cores share them, in the order of their buses, in whole cores: a place
 * is near to one device.
 */
#include <hwloc.h>

/* First and number of PUs of each device's share, from left to right; how many. */
int devices_near(hwloc_topology_t topology, int are_gpus, int *firsts, int *counts);

#endif
