/* Loads modules (plugin.c) and calls them, step by step as the arguments direct, and prints the results. With LINKED
 * the module is part of the program.
 *
 *   load FILE     loads it for itself         global FILE  loads it for everybody
 *   call FILE     whose its answers are       finish FILE  its MPI ends        start FILE  and starts
 *   close FILE    unloads it                  self         as call, of the program's own
 *   chdir DIR     goes there                  missing NAME looks a function up, and calls it
 *   limit N       opens no file any more from descriptor N on
 *   mpis          how many MPI libraries are mapped, and how many of Cartograph's hosts */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST = 8 };

static struct {
    const char *file;
    void *handle;
} loaded[MOST];

static void **module(const char *file)
{
    int i = 0;
    while (loaded[i].file && strcmp(loaded[i].file, file))
        i++;
    loaded[i].file = file;
    return &loaded[i].handle;
}

static void load(const char *file, int how)
{
    void **handle = module(file);
    *handle = dlopen(file, RTLD_NOW | how);
    if (!*handle) {
        printf("%s\n", dlerror());
        exit(1);
    }
}

static void *function(const char *file, const char *name)
{
    void *found = *module(file) ? dlsym(*module(file), name) : NULL;
    if (!found) {
        printf("%s has no %s\n", file, name);
        exit(1);
    }
    return found;
}

/* Counts mapped files whose names contain the word. */
static int mapped(const char *word)
{
    char line[4096], last[4096] = "";
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) {
        const char *path = strchr(line, '/'), *name = path ? strrchr(path, '/') : NULL;
        if (!name || !strstr(name, word) || !strcmp(path, last))
            continue;
        strcpy(last, path);
        count++;
    }
    fclose(maps);
    return count;
}

#ifdef LINKED
const char *answers(void);
void finish(void);
#endif

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++) {
        const char *step = argv[i], *what = i + 1 < argc ? argv[i + 1] : "";
        const char *name = strrchr(what, '/') ? strrchr(what, '/') + 1 : what;
        if (!strcmp(step, "mpis")) {
            printf("mapped: %d MPI, %d of ours\n",
                   mapped("/libmpi.so") + mapped("/libmpich.so") + mapped("/libmpi_abi.so"),
                   mapped("/libcartograph.so"));
            continue;
        }
#ifdef LINKED
        if (!strcmp(step, "self")) {
            printf("self: %s\n", answers());
            continue;
        }
#endif
        i++;
        if (!strcmp(step, "load"))
            load(what, RTLD_LOCAL);
        else if (!strcmp(step, "global"))
            load(what, RTLD_GLOBAL);
        else if (!strcmp(step, "call"))
            printf("%s: %s\n", name, ((const char *(*)(void))function(what, "answers"))());
        else if (!strcmp(step, "finish"))
            ((void (*)(void))function(what, "finish"))();
        else if (!strcmp(step, "start"))
            ((void (*)(void))function(what, "start"))();
        else if (!strcmp(step, "close"))
            printf("closed: %d\n", dlclose(*module(what)));
        else if (!strcmp(step, "chdir"))
            printf("chdir: %d\n", chdir(what));
        else if (!strcmp(step, "limit"))
            setrlimit(RLIMIT_NOFILE, &(struct rlimit){ atoi(what), atoi(what) });
        else if (!strcmp(step, "missing")) {
            int (*found)(void *, int, void *, void *, int, void *, void *, void *, void *) =
                (int (*)(void *, int, void *, void *, int, void *, void *, void *, void *))dlsym(RTLD_DEFAULT, what);
            printf("%s is %s\n", what, found ? "found" : "not found");
            if (found)
                found(NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL);
        } else {
            printf("there is no step %s\n", step);
            return 1;
        }
    }
#ifdef LINKED
    finish();
#endif
    return 0;
}
