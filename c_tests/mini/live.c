#include "live.h"

#include <stdlib.h>

static long alive[MINI_KINDS];
static int has_refused;

int mini_has_room(enum mini_kind kind, long amount)
{
    static const char *const names[] = { "MINI_CONTEXTS", "MINI_KEYVALS", "MINI_MEMORY" };
    const char *most = getenv(names[kind]);
    int has_room = !most || alive[kind] + amount <= atol(most);
    if (!has_room)
        mini_note_refusal();
    return has_room;
}

void mini_note_refusal(void)
{
    has_refused = 1;
}

void mini_count(enum mini_kind kind, long amount)
{
    alive[kind] += amount;
}

long mini_alive(enum mini_kind kind)
{
    return alive[kind];
}

int mini_take_refusal(void)
{
    int refused = has_refused;
    has_refused = 0;
    return refused;
}
