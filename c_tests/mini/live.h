/* Live objects of mini, with limits for each process: MINI_CONTEXTS, MINI_KEYVALS and MINI_MEMORY (bytes). */
#ifndef MINI_LIVE_H
#define MINI_LIVE_H

enum mini_kind { CONTEXTS, KEYVALS, MEMORY, MINI_KINDS };

/* Returns whether there is room for this many more. */
int mini_has_room(enum mini_kind kind, long amount);
/* Adds to the number of live objects, or subtracts. */
void mini_count(enum mini_kind kind, long amount);
/* Records a lack of room, here or on the process that decides. */
void mini_note_refusal(void);
/* Returns whether room was lacking since the last call. */
int mini_take_refusal(void);
long mini_alive(enum mini_kind kind);

#endif
