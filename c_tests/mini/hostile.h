/* Arguments of any function of the chapter, all of which are integers and addresses: surplus arguments are passed
 * on, which is harmless. The parameters of a function, and its arguments. */
#define ANY_PARAMETERS                                                                                                  \
    long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l
#define ANY_ARGUMENTS a, b, c, d, e, f, g, h, i, j, k, l
typedef long any_function(ANY_PARAMETERS);

/* For monitor.c, between a program and the library: a call begins, on a communicator or none, and ends. Returns
 * whether to repeat it, after it failed because a call of the host failed. */
void mini_hostile_begin(const char *function, void *comm, int is_collective);
int mini_hostile_end(int code);
/* After MPI_Finalize. */
void mini_hostile_finalized(void);
