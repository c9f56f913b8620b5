/* Threads that wait for work: what the sweep stands on.
 *
 * The threads belong to a context, not to the process, and end with it. OpenMP's would do for the sweep alone, but they are
 * lost after a fork while its bookkeeping is not (the child waits for ever), their stacks are as small as the environment
 * says, and two runtimes of it in one process, as Python's packages bring them, get in each other's way.
 *
 * Who calls takes part. It does not wait for threads that have not begun when its own part is over: a small job on a busy
 * machine costs a call, not a wait. Measured on a loaded machine of two cores, processor time of a sweep of two empty tasks
 * for two threads: 1.4 to 2.8 us, with OpenMP's threads asleep in between (passive) 10 us, with spinning ones 100 us. */
#ifndef GRAM_BASE_CREW_H
#define GRAM_BASE_CREW_H

#include "base/memory.h"

/* What each member does; member 0 is the caller, the others have numbers of their own below `members`. */
typedef void (*gram_crew_job)(void *argument, int member);

typedef struct gram_crew gram_crew;

/* For jobs of up to `members`, the caller among them. No thread is started before a job needs it. */
gram_status gram_crew_create(gram_memory *memory, int members, gram_crew **crew);
/* Ends the threads. Takes NULL. */
void gram_crew_destroy(gram_memory *memory, gram_crew *crew);

/* Runs the job in the calling thread and in up to members - 1 threads of the crew's, and returns when all that began have
 * ended. Fewer begin where the system has no threads or no address space for more, and none if a job of this crew is under
 * way (a task's own sweep) or crew is NULL: jobs must not depend on it. */
void gram_crew_run(gram_crew *crew, int members, gram_crew_job job, void *argument);

#endif
