/* Cartograph replaces functions of the host's mpi.h and adds none: this header tells a program, at
 * compile time, which version it was built with. */
#ifndef CARTOGRAPH_H
#define CARTOGRAPH_H

#define CARTOGRAPH_VERSION "0.1.0"

#endif
