/* Mini's live objects, and the limits of their number: MINI_CONTEXTS, MINI_KEYVALS and MINI_MEMORY
 * (bytes) say so, each of a process. */
#ifndef MINI_LIVE_H
#define MINI_LIVE_H

enum mini_kind { CONTEXTS, KEYVALS, MEMORY, MINI_KINDS };

/* Returns whether there is room for so much more. */
int mini_has_room(enum mini_kind kind, long amount);
/* So much more is alive, or less. */
void mini_count(enum mini_kind kind, long amount);
/* Something had no room, here or on the process that decides. */
void mini_note_refusal(void);
/* Returns whether something had no room since the last time that this was asked. */
int mini_take_refusal(void);
long mini_alive(enum mini_kind kind);

#endif
