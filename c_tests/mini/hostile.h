/* Arguments of any function of the chapter, all of which are integers and addresses: what is passed on goes beyond those
 * that there are, which harms nobody. The parameters of a function are used, and its arguments. */
#define ANY_PARAMETERS                                                                                                  \
    long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l
#define ANY_ARGUMENTS a, b, c, d, e, f, g, h, i, j, k, l
typedef long any_function(ANY_PARAMETERS);

/* For monitor.c, which is between a program and the library: a call begins, on a communicator or none, and ends. Whether it
 * is to be made again, after it failed because a call of the host had to. */
void mini_hostile_begin(const char *function, void *comm, int is_collective);
int mini_hostile_end(int code);
/* After MPI_Finalize. */
void mini_hostile_finalized(void);
