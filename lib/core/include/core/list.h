// SPDX-License-Identifier: MIT
/* Intrusive doubly linked list: the node is a member of the element, so nothing is allocated and nothing
 * fails. */
#ifndef CORE_LIST_H
#define CORE_LIST_H

#include "core/util.h"
#include <stdbool.h>

/* A node of an element, or the head of a list. A node that is all zero is in no list; a head points at itself
 * when the list is empty. */
struct list_node {
    struct list_node *prev;
    struct list_node *next;
};

#define LIST_INIT(head) {.prev = &(head), .next = &(head)}

static inline void list_init(struct list_node *head)
{
    head->prev = head;
    head->next = head;
}

static inline bool list_empty(const struct list_node *head)
{
    return head->next == head;
}

/* Puts `node` right before `position`. */
static inline void list_insert_before(struct list_node *position, struct list_node *node)
{
    node->prev = position->prev;
    node->next = position;
    position->prev->next = node;
    position->prev = node;
}

#define list_add_tail(head, node) list_insert_before(head, node)
#define list_add_head(head, node) list_insert_before((head)->next, node)

/* Takes `node` out of the list that it is in, if it is in one. */
static inline void list_remove(struct list_node *node)
{
    if (!node->next)
        return;
    node->prev->next = node->next;
    node->next->prev = node->prev;
    *node = (struct list_node){NULL, NULL};
}

#define list_entry(node, type, member) container_of(node, type, member)

/* First and last element; the list is not empty. */
#define list_first(head, type, member) list_entry((head)->next, type, member)
#define list_last(head, type, member)  list_entry((head)->prev, type, member)

/* `node` visits each node from first to last; the loop body must not remove it. */
#define list_for_each(node, head)                                                                            \
    for (struct list_node *node = (head)->next; node != (head); node = node->next)

/* The loop body may remove `node` (and nothing else). */
#define list_for_each_safe(node, head)                                                                       \
    for (struct list_node *node = (head)->next, *node##_next = node->next; node != (head);                   \
         node = node##_next, node##_next = node->next)

#endif
