/* Likewise under CARTOGRAPH_PAIRING=host, where the pairing of the host is no difference. */
#include "neighbor_host.c"
