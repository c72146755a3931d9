/* A library with the functions of CUDA's driver that the recorder calls, or of HIP if that is defined. test_use_device makes a
 * process use one of two devices, as the current one of its thread or not. Before that, the functions return errors, as if
 * nothing were initialized. */
#include <stdio.h>

#ifdef HIP
#define cuCtxGetDevice hipGetDevice
#define cuDeviceGetCount hipGetDeviceCount
#define cuDeviceGetPCIBusId hipDeviceGetPCIBusId
#endif

enum { DEVICES = 2, SUCCESS = 0, NOT_INITIALIZED = 3, NO_CONTEXT = 201 };

static int used = -1, is_current;

void test_use_device(int number, int current)
{
    used = number;
    is_current = current;
}

int cuCtxGetDevice(int *number)
{
    if (used < 0)
        return NOT_INITIALIZED;
    *number = used;
    return is_current ? SUCCESS : NO_CONTEXT;
}

int cuDeviceGetCount(int *number)
{
    *number = DEVICES;
    return used < 0 ? NOT_INITIALIZED : SUCCESS;
}

int cuDeviceGetPCIBusId(char *text, int room, int number)
{
    snprintf(text, (size_t)room, "0000:%02x:00.0", number + 1);
    return SUCCESS;
}

#ifndef HIP
int cuDevicePrimaryCtxGetState(int number, unsigned *flags, int *active)
{
    *flags = 0;
    *active = number == used;
    return SUCCESS;
}
#endif
