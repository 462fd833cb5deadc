/* Preloaded into the ranks of a run with more ranks than cores: UCX polls without ever giving up
 * the processor, so a waiting rank would keep its partner from running. After a poll that moved
 * nothing, let somebody else run. Without UCX in the process nobody calls this. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

typedef unsigned (*progress_function)(void* worker);

static progress_function find_progress(void) {
    void* symbol = dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (!symbol) { /* UCX came with a plug-in, outside the global scope */
        void* library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
        symbol = library ? dlsym(library, "ucp_worker_progress") : 0;
    }
    return (progress_function)symbol;
}

unsigned ucp_worker_progress(void* worker) {
    static progress_function progress; /* two threads may both look it up: same answer */
    if (!progress) progress = find_progress();
    unsigned events = progress ? progress(worker) : 0;
    if (events == 0) sched_yield();
    return events;
}
