// SPDX-License-Identifier: MIT
/* Virtqueues against a device that this test plays: an honest one, and one that lies in every field. */
#include "virtqueue.h"
#include "core/errno.h"
#include "core/log.h"
#include "core/math.h"
#include "core/util.h"
#include "hal/dma.h"
#include "hal/mem.h"
#include "random.h"
#include "virtq.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* --- the hal: addresses as they are, pages under ASan's eyes --- */

static unsigned live_pages;
static bool no_pages;

void *page_alloc(size_t npages)
{
    live_pages += no_pages ? 0 : (unsigned)npages;
    return no_pages ? NULL : aligned_alloc(PAGE_SIZE, npages * PAGE_SIZE);
}

void page_free(void *pages, size_t npages)
{
    live_pages -= pages ? (unsigned)npages : 0;
    free(pages);
}

phys_addr_t dma_address(const void *p)
{
    return phys_addr((uintptr_t)p);
}

/* --- the device --- */

static char log_text[4096];

static void keep(const char *text, size_t length)
{
    size_t used = strlen(log_text);

    snprintf(log_text + used, sizeof(log_text) - used, "%.*s", (int)length, text);
}

static void use(struct virtqueue *vq, uint32_t id, uint32_t written)
{
    vq->used->ring[vq->used->index % vq->size] = (struct virtq_used_element){.id = id, .written = written};
    vq->used->index++;
}

/* --- tests --- */

static char memory[16];
static int tokens[70000];

/* Adds a chain that reads 4 bytes and writes 8 in two pieces. */
static int add(struct virtqueue *vq, void *token)
{
    const struct virtqueue_buffer buffers[] = {{memory, 4}, {memory + 4, 7}, {memory + 11, 1}};

    return virtqueue_add(vq, buffers, 1, 2, token);
}

static int setup(void **state)
{
    static const struct log_output output = {.write = keep};
    struct virtqueue *vq = malloc(sizeof(*vq));

    assert_int_equal(virtqueue_create(vq, 8), 0);
    log_text[0] = '\0';
    log_set_output(&output);
    *state = vq;
    return 0;
}

static int teardown(void **state)
{
    log_set_output(NULL);
    virtqueue_destroy(*state);
    free(*state);
    assert_int_equal(live_pages, 0);
    return 0;
}

static void sizes_are_powers_of_two(void **state)
{
    struct virtqueue vq;

    (void)state;
    assert_int_equal(virtqueue_create(&vq, 0), -EINVAL);
    assert_int_equal(virtqueue_create(&vq, 3), -EINVAL);
    assert_int_equal(virtqueue_create(&vq, 65536), -EINVAL);
    virtqueue_destroy(&vq);
    for (unsigned size = 1; size <= VIRTQUEUE_MAX; size *= 2) {
        assert_int_equal(virtqueue_create(&vq, size), 0);
        assert_true(is_aligned((uintptr_t)vq.desc, 16) && is_aligned((uintptr_t)vq.used, 4));
        memset(vq.used, 0xff, sizeof(*vq.used) + size * sizeof(vq.used->ring[0])); /* inside, says ASan */
        virtqueue_destroy(&vq);
    }
    no_pages = true;
    assert_int_equal(virtqueue_create(&vq, 8), -ENOMEM);
    no_pages = false;
    assert_int_equal(vq.size, 0);
}

static void the_device_sees_the_chain(void **state)
{
    struct virtqueue *vq = *state;
    const struct virtq_desc *d;

    assert_int_equal(add(vq, &tokens[0]), 0);
    assert_int_equal(vq->avail->index, 0); /* not yet */
    assert_true(virtqueue_publish(vq));
    assert_int_equal(vq->avail->index, 1);
    d = &vq->desc[vq->avail->ring[0]];
    assert_int_equal(d->address, (uintptr_t)memory);
    assert_int_equal(d->size, 4);
    assert_int_equal(d->flags, VIRTQ_DESC_NEXT);
    d = &vq->desc[d->next];
    assert_int_equal(d->address, (uintptr_t)memory + 4);
    assert_int_equal(d->size, 7);
    assert_int_equal(d->flags, VIRTQ_DESC_NEXT | VIRTQ_DESC_WRITE);
    d = &vq->desc[d->next];
    assert_int_equal(d->address, (uintptr_t)memory + 11);
    assert_int_equal(d->flags, VIRTQ_DESC_WRITE);
    vq->used->flags = VIRTQ_USED_NO_NOTIFY;
    assert_false(virtqueue_publish(vq));
}

static void a_full_queue_says_so(void **state)
{
    struct virtqueue *vq = *state;
    const struct virtqueue_buffer many[9] = {{memory, 1}};

    assert_int_equal(virtqueue_add(vq, many, 0, 0, &tokens[0]), -EINVAL);
    assert_int_equal(virtqueue_add(vq, many, 8, 1, &tokens[0]), -EINVAL);
    assert_int_equal(add(vq, &tokens[0]), 0);
    assert_int_equal(add(vq, &tokens[1]), 0);
    assert_int_equal(add(vq, &tokens[2]), -ENOSPC);
    assert_int_equal(virtqueue_add(vq, many, 2, 0, &tokens[2]), 0);
    assert_int_equal(virtqueue_add(vq, many, 1, 0, &tokens[3]), -ENOSPC);
}

/* Chains of random length, completed in random order, until the 16-bit indices have wrapped. */
static void chains_come_back_in_any_order(void **state)
{
    struct virtqueue *vq = *state;
    const struct virtqueue_buffer buffers[4] = {
        {memory, 1}, {memory + 1, 2}, {memory + 3, 3}, {memory + 6, 4}};
    uint16_t heads[8];
    void *expected[8];
    unsigned nheads = 0;
    unsigned added = 0;

    while (added < ARRAY_SIZE(tokens)) {
        unsigned nread = (unsigned)random_below(3);
        unsigned nwrite = (unsigned)random_below(2) + (nread == 0);
        uint16_t place = (uint16_t)(vq->available_index % vq->size);

        if (virtqueue_add(vq, buffers, nread, nwrite, &tokens[added]) == 0) {
            expected[nheads] = &tokens[added++];
            heads[nheads++] = vq->avail->ring[place];
            virtqueue_publish(vq);
        } else {
            unsigned victim = (unsigned)random_below(nheads);
            void *token = NULL;
            uint32_t written;

            use(vq, heads[victim], 0);
            assert_int_equal(virtqueue_take(vq, &token, &written), 0);
            assert_ptr_equal(token, expected[victim]);
            heads[victim] = heads[--nheads];
            expected[victim] = expected[nheads];
        }
        assert_int_equal(vq->in_flight, nheads);
    }
    assert_string_equal(log_text, "");
}

static void nothing_used_nothing_taken(void **state)
{
    struct virtqueue *vq = *state;
    void *token;
    uint32_t written;

    assert_int_equal(virtqueue_take(vq, &token, &written), -EAGAIN);
    add(vq, &tokens[0]);
    virtqueue_publish(vq);
    assert_int_equal(virtqueue_take(vq, &token, &written), -EAGAIN);
    use(vq, vq->avail->ring[0], 8);
    assert_int_equal(virtqueue_take(vq, &token, &written), 0);
    assert_int_equal(written, 8);
    assert_int_equal(virtqueue_take(vq, &token, &written), -EAGAIN);
}

/* A queue with two chains in flight and one lie in the used ring: it breaks, and gives both tokens back once.
 */
static void assert_lie_is_noticed(struct virtqueue *vq, const char *message)
{
    void *token = NULL;
    void *first, *second;
    uint32_t written;

    assert_int_equal(virtqueue_take(vq, &token, &written), -EPROTO);
    assert_null(token);
    assert_non_null(strstr(log_text, message));
    assert_int_equal(virtqueue_take(vq, &token, &written), -EIO);
    assert_int_equal(add(vq, &tokens[2]), -EIO);
    first = virtqueue_cancel(vq);
    second = virtqueue_cancel(vq);
    assert_true((first == &tokens[0] && second == &tokens[1]) ||
                (first == &tokens[1] && second == &tokens[0]));
    assert_null(virtqueue_cancel(vq));
    assert_int_equal(vq->free, vq->size);
}

static struct virtqueue *two_in_flight(void **state)
{
    struct virtqueue *vq = *state;

    assert_int_equal(add(vq, &tokens[0]), 0);
    assert_int_equal(add(vq, &tokens[1]), 0);
    virtqueue_publish(vq);
    return vq;
}

static void more_used_than_available(void **state)
{
    struct virtqueue *vq = two_in_flight(state);

    vq->used->index = 3;
    assert_lie_is_noticed(vq, "chains used 3, limit 2");
}

static void used_index_goes_back(void **state)
{
    struct virtqueue *vq = two_in_flight(state);

    vq->used->index = (uint16_t)-1;
    assert_lie_is_noticed(vq, "chains used 65535, limit 2");
}

static void id_out_of_range(void **state)
{
    struct virtqueue *vq = two_in_flight(state);

    use(vq, 8, 0);
    assert_lie_is_noticed(vq, "id 8, limit 8");
}

static void id_in_the_middle_of_a_chain(void **state)
{
    struct virtqueue *vq = two_in_flight(state);

    use(vq, vq->desc[vq->avail->ring[0]].next, 0);
    assert_lie_is_noticed(vq, "id not in flight");
}

static void id_of_a_free_descriptor(void **state)
{
    struct virtqueue *vq = two_in_flight(state);

    use(vq, 7, 0);
    assert_lie_is_noticed(vq, "id not in flight 7");
}

static void more_written_than_there_is_room(void **state)
{
    struct virtqueue *vq = two_in_flight(state);

    use(vq, vq->avail->ring[1], 9);
    assert_lie_is_noticed(vq, "bytes written 9, limit 8");
}

static void a_chain_used_twice(void **state)
{
    struct virtqueue *vq = two_in_flight(state);
    void *token;
    uint32_t written;

    use(vq, vq->avail->ring[0], 0);
    use(vq, vq->avail->ring[0], 0);
    assert_int_equal(virtqueue_take(vq, &token, &written), 0);
    assert_ptr_equal(token, &tokens[0]);
    assert_int_equal(virtqueue_take(vq, &token, &written), -EPROTO);
    assert_ptr_equal(virtqueue_cancel(vq), &tokens[1]);
    assert_null(virtqueue_cancel(vq));
}

/* --- any bytes anywhere in the memory that the device may write --- */

static int uses[64]; /* how often each token is out */

static void scribble(struct virtqueue *vq)
{
    size_t bytes = (size_t)((char *)&vq->used->ring[vq->size] - (char *)vq->desc);

    for (unsigned n = (unsigned)random_below(4); n > 0; n--)
        ((uint8_t *)vq->desc)[random_below(bytes)] = (uint8_t)random_u64();
    if (random_below(2))
        vq->used->index = (uint16_t)(vq->used_index + random_below(4));
    if (random_below(2))
        use(vq, (uint32_t)random_below(vq->size), (uint32_t)random_below(10));
}

static void give_back(int *token)
{
    assert_true(token >= uses && token < uses + ARRAY_SIZE(uses));
    assert_int_equal(--*token, 0);
}

static void one_random_step(struct virtqueue *vq)
{
    int *token = &uses[random_below(ARRAY_SIZE(uses))];
    void *taken;
    uint32_t written;

    switch (random_below(3)) {
    case 0:
        if (*token == 0 && add(vq, token) == 0)
            ++*token;
        break;
    case 1:
        virtqueue_publish(vq);
        scribble(vq);
        break;
    default:
        if (virtqueue_take(vq, &taken, &written) == 0)
            give_back(taken);
    }
}

static void a_device_that_writes_nonsense(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        struct virtqueue vq;
        int *token;

        log_text[0] = '\0';
        assert_int_equal(virtqueue_create(&vq, 1u << random_below(6)), 0);
        for (unsigned step = 0; step < 100; step++)
            one_random_step(&vq);
        while ((token = virtqueue_cancel(&vq)) != NULL)
            give_back(token);
        assert_int_equal(vq.free, vq.size);
        virtqueue_destroy(&vq);
        for (unsigned i = 0; i < ARRAY_SIZE(uses); i++)
            assert_int_equal(uses[i], 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_powers_of_two),
        TEST(the_device_sees_the_chain),
        TEST(a_full_queue_says_so),
        TEST(chains_come_back_in_any_order),
        TEST(nothing_used_nothing_taken),
        TEST(more_used_than_available),
        TEST(used_index_goes_back),
        TEST(id_out_of_range),
        TEST(id_in_the_middle_of_a_chain),
        TEST(id_of_a_free_descriptor),
        TEST(more_written_than_there_is_room),
        TEST(a_chain_used_twice),
        TEST(a_device_that_writes_nonsense),
    };

    random_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
