/* Likewise under CARTOGRAPH_PAIRING=host, where the pairing of the host does not count as a difference. */
#include "neighbor_host.c"
