/* Attributes of communicators. */
#ifndef MINI_ATTR_H
#define MINI_ATTR_H

#include "comm.h"

int mini_attrs_copy(struct mini_comm *from, struct mini_comm *to);
int mini_attrs_delete(struct mini_comm *comm);

#endif
