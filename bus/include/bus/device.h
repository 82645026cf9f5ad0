// SPDX-License-Identifier: MIT
/*
 * Devices. A bus makes a `struct device` for each thing it finds, lets the drivers probe it, and registers it
 * when one takes it. Everybody else takes devices by class and index:
 *
 *     struct device *dev = device_get(DEVICE_GPGPU, 0);
 *     const struct gpgpu_ops *ops = dev->ops;
 */
#ifndef BUS_DEVICE_H
#define BUS_DEVICE_H

#include "core/list.h"
#include <stdbool.h>

/* What a device is for. `ops` of a registered device is the interface of its class. */
enum device_class {
    DEVICE_NONE,     /* taken by a driver that offers no interface */
    DEVICE_GPGPU,    /* struct gpgpu_ops, drivers/gpgpu.h */
    DEVICE_BLOCK,    /* struct block_ops, drivers/block.h */
    DEVICE_ENTROPY,  /* struct entropy_ops, drivers/entropy.h */
    DEVICE_FILES,    /* struct files_ops, drivers/files.h */
    DEVICE_TUTORIAL, /* struct edu_ops, drivers/edu.h */
    DEVICE_CLASSES,  /* their number */
};

struct device;
struct driver;

/* A kind of bus. */
struct bus {
    const char *name; /* "pci", "platform" */
    /* Does `driver` want to be asked about `dev`? */
    bool (*match)(const struct device *dev, const struct driver *driver);
};

struct device {
    char name[16];           /* "gpgpu0": class and index; "" while it is not registered */
    char address[16];        /* on its bus: "00:04.0" */
    char what[40];           /* for people: "1234:1337 3D controller" */
    enum device_class class; /* its driver's */
    unsigned index;          /* among the registered devices of its class */
    unsigned number;         /* which device of its driver (platform bus) */
    int status; /* 0: bound; -ENODEV: no driver; -EAGAIN: waits; else its probe's error. First -ENODEV */
    const struct bus *bus;       /* the bus that found it */
    const struct driver *driver; /* who took it, NULL if nobody */
    const void *ops;             /* interface of its class; set by the driver's probe */
    void *priv;                  /* the driver's own; set by its probe */
    struct list_node node;       /* in the registry, or among the waiting */
};

/* "gpgpu", "block", … */
const char *device_class_name(enum device_class class);

/* The registered device with that class and index, or NULL. Ownership stays with the bus. */
struct device *device_get(enum device_class class, unsigned index);

/* How many devices of `class` are registered. */
unsigned device_count(enum device_class class);

/*
 * The registered devices of all classes in the order of registration: the first for NULL, then the one after
 * `previous`; NULL at the end.
 */
struct device *device_next(const struct device *previous);
#define device_for_each(dev) for (struct device *dev = device_next(NULL); dev != NULL; dev = device_next(dev))

/* The device registered last, or NULL. */
struct device *device_last(void);

/*
 * For bind.c. Adds `dev` (class, driver, ops and address set; in no list) to the registry with the smallest
 * free index of its class. The struct stays the caller's and must stay valid until device_unregister().
 */
void device_register(struct device *dev);

/* Takes `dev` out of the registry, if it is there; the others keep their names and indices. */
void device_unregister(struct device *dev);

/*
 * Lets the drivers that match `dev` (bus, address and what set) try it, by (prio, name), registers it for the
 * first that takes it, and logs the outcome: "pci 00:04.0: 1234:1337 3D controller → qemu_gpgpu", "no
 * driver", or the probe's error. For binding again what was unbound. Returns 0, -EBUSY (a driver has it
 * already), -ENODEV (no driver), -EAGAIN (it waits: see probe in bus/driver.h) or the probe's error.
 */
int device_bind(struct device *dev);

/*
 * For buses: binds the devices whose status is -ENODEV among those that next() walks through (as
 * device_next() does). Driver by driver: what has a smaller priority takes all its devices before the next is
 * asked.
 */
void device_bind_all(struct device *(*next)(struct device *previous));

/*
 * Lets this one driver try `dev`, and registers and logs a success and an error other than -ENODEV. Returns
 * 0, -EBUSY (a driver has it already) or the error of the driver's probe.
 */
int device_probe(struct device *dev, const struct driver *driver);

/* Unregisters `dev` and calls its driver's remove(), if it has a driver; it does not wait any longer. */
void device_unbind(struct device *dev);

/* Unbinds every registered device, the last one first; none waits any longer. */
void device_unbind_all(void);

#endif
