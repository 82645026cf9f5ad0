// SPDX-License-Identifier: MIT
/*
 * Every device at work at the same time: with threads one for each device, without them in turns. Each result
 * is checked, and each device must have interrupted at least once a round. DEVICES='-device gpgpu -device edu
 * -device virtio-rng-pci …'
 */
#include "together.h"
#include "bus/pci.h"
#include "core/errno.h"
#include "core/test.h"
#include "hal/thread.h"
#include <stdio.h>

#define MAX_JOBS 16
#define ROUNDS   20

static struct job jobs[MAX_JOBS];
static unsigned njobs;

static void find_jobs(void)
{
    device_for_each (dev)
        if (work_of(dev->class) && njobs < MAX_JOBS)
            jobs[njobs++].dev = dev;
}

static void work_once(struct job *job)
{
    if (job->error)
        return;
    job->error = work_of(job->dev->class)(job);
    job->rounds += job->error == 0;
}

#ifdef CONFIG_THREADS
static int work_alone(void *job)
{
    for (int round = 0; round < ROUNDS; round++)
        work_once(job);
    return 0;
}

static void work_all(void)
{
    for (unsigned i = 0; i < njobs; i++)
        if (!(jobs[i].thread = thread_create(jobs[i].dev->name, work_alone, &jobs[i], 0)))
            jobs[i].error = -ENOMEM;
    for (unsigned i = 0; i < njobs; i++)
        if (jobs[i].thread)
            thread_join(jobs[i].thread);
}
#else
static void work_all(void)
{
    for (int round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < njobs; i++)
            work_once(&jobs[i]);
}
#endif

static uint64_t interrupts(const struct pci_device *pdev)
{
    uint64_t count = 0;

    for (unsigned vector = 0; vector < pci_irq_vectors(pdev); vector++)
        count += irq_count(pci_irq_number(pdev, vector));
    return count;
}

static void judge(struct job *job)
{
    const struct pci_device *pdev = to_pci_device(job->dev);
    uint64_t count = interrupts(pdev);

    check(job->error == 0 && count >= ROUNDS, "%s: %u of %d rounds (%s), %llu interrupts by %s",
          job->dev->name, job->rounds, ROUNDS, error_name(job->error), (unsigned long long)count,
          pci_irq_mode_name(pci_irq_mode(pdev)));
}

int main(void)
{
    find_jobs();
    work_all();
    pci_list(stdout);
    for (unsigned i = 0; i < njobs; i++) {
        judge(&jobs[i]);
        gpgpu_context_close(&jobs[i].gpu);
    }
    return test_exit_code();
}
