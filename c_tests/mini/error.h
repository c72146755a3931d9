/* Error codes and error handling. */
#ifndef MINI_ERROR_H
#define MINI_ERROR_H

#include "comm.h"

/* Calls the error handler of a communicator, or of MPI_COMM_SELF without one, unless the code is MPI_SUCCESS.
 * Returns the code. */
int mini_raise(struct mini_comm *comm, int code);
int mini_last_code(void);
void mini_forget_codes(void);

#endif
