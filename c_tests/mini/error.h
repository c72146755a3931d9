/* Error codes, and what becomes of an error. */
#ifndef MINI_ERROR_H
#define MINI_ERROR_H

#include "comm.h"

/* Calls a communicator's error handler unless the code is MPI_SUCCESS; gives the code back. Without a
 * communicator it is MPI_COMM_SELF's. */
int mini_raise(struct mini_comm *comm, int code);
int mini_last_code(void);
void mini_forget_codes(void);

#endif
