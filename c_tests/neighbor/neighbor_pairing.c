/* The same under CARTOGRAPH_PAIRING=host, where the host's pairing is no difference. */
#include "neighbor_host.c"
