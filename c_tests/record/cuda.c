/* A library with the functions of CUDA's driver, or with HIP those of HIP, that the recorder asks. test_use_device makes a
 * process use a device of two. Before that, the functions return errors, as if nothing were initialized. */
#include <stdio.h>

enum { DEVICES = 2, SUCCESS = 0, NOT_INITIALIZED = 3, NO_CONTEXT = 201 };

static int used = -1, is_current;

void test_use_device(int number, int current)
{
    used = number;
    is_current = current;
}

static int get(int *number)
{
    if (used < 0)
        return NOT_INITIALIZED;
    *number = used;
    return is_current ? SUCCESS : NO_CONTEXT;
}

static int count(int *number)
{
    *number = DEVICES;
    return used < 0 ? NOT_INITIALIZED : SUCCESS;
}

static int bus(char *text, int room, int number)
{
    snprintf(text, (size_t)room, "0000:%02x:00.0", number + 1);
    return SUCCESS;
}

#ifdef HIP
int hipGetDevice(int *number)
{
    return get(number);
}

int hipGetDeviceCount(int *number)
{
    return count(number);
}

int hipDeviceGetPCIBusId(char *text, int room, int number)
{
    return bus(text, room, number);
}
#else
int cuCtxGetDevice(int *number)
{
    return get(number);
}

int cuDeviceGetCount(int *number)
{
    return count(number);
}

int cuDeviceGetPCIBusId(char *text, int room, int number)
{
    return bus(text, room, number);
}

int cuDevicePrimaryCtxGetState(int number, unsigned *flags, int *active)
{
    *flags = 0;
    *active = number == used;
    return SUCCESS;
}
#endif
