/* A SPANK plugin for Slurm: `srun` becomes `cartograph run srun` in the jobs of users who set CARTOGRAPH_RUN=1.
 *
 *     gcc -shared -fPIC -O2 -o cartograph_run.so cartograph_run.c        # with Slurm's header, slurm/spank.h
 *
 * and a line of plugstack.conf, on the nodes that run srun, in which "optional" lets jobs run if the plugin cannot be
 * loaded:
 *
 *     optional cartograph_run.so command=/opt/cartograph/bin/cartograph leave=/etc/cartograph/leave
 *
 * The file has the names of programs to leave alone, one a line, with * and ?; a step stays unchanged if one of its
 * words is such a name, with any directory. If anything is missing or wrong, srun continues as without the plugin. */
#include <fnmatch.h>
#include <libgen.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

SPANK_PLUGIN(cartograph_run, 1)

enum { MOST_WORDS = 1 << 16, LONGEST_NAME = 4096 };

/* The value of an argument in plugstack.conf. */
static const char *argument(const char *name, int ac, char **av)
{
    size_t length = strlen(name);
    for (int i = 0; i < ac; i++)
        if (strncmp(av[i], name, length) == 0 && av[i][length] == '=')
            return av[i] + length + 1;
    return NULL;
}

/* The words of this process; NULL if they cannot be read. They and their bytes are never freed. */
static char **words(int *count)
{
    char **all = NULL, *word = NULL;
    size_t size = 0;
    FILE *file = fopen("/proc/self/cmdline", "re");
    *count = 0;
    while (file && *count < MOST_WORDS && getdelim(&word, &size, 0, file) > 0) {
        char **more = realloc(all, (*count + 2) * sizeof *all);
        if (!more)
            break;
        all = more;
        all[(*count)++] = word;
        all[*count] = NULL;
        word = NULL;
        size = 0;
    }
    int is_whole = file && feof(file);
    if (file)
        fclose(file);
    return is_whole ? all : NULL;
}

/* Whether a word is the name of a program that the site leaves alone. A list that is named and cannot be read leaves all
 * programs alone. */
static int is_listed(const char *list, char **all, int count)
{
    char name[LONGEST_NAME], path[LONGEST_NAME];
    FILE *file = list ? fopen(list, "re") : NULL;
    int found = list && !file;
    while (file && !found && fgets(name, sizeof name, file)) {
        name[strcspn(name, " \t\r\n#")] = 0;
        for (int i = 1; i < count && *name && !found; i++) {
            snprintf(path, sizeof path, "%s", all[i]);
            found = fnmatch(name, basename(path), 0) == 0;
        }
    }
    if (file)
        fclose(file);
    return found;
}

/* Whether this srun was started by the command, or by what cannot be read. */
static int is_within(const char *command)
{
    char path[64];
    struct stat parent, own;
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)getppid());
    if (stat(path, &parent) != 0 || stat(command, &own) != 0)
        return 1;
    return parent.st_dev == own.st_dev && parent.st_ino == own.st_ino;
}

int slurm_spank_init(spank_t spank, int ac, char **av)
{
    (void)spank;
    const char *wanted = getenv("CARTOGRAPH_RUN"), *command = argument("command", ac, av);
    int count;
    /* Only in srun, within an allocation: the nodes are known there, and a second step waits for none. */
    if (spank_context() != S_CTX_LOCAL || !wanted || strcmp(wanted, "1") != 0 || !command || access(command, X_OK) != 0)
        return ESPANK_SUCCESS;
    if ((!getenv("SLURM_JOB_ID") && !getenv("SLURM_JOBID")) || is_within(command))
        return ESPANK_SUCCESS;
    char **all = words(&count);
    if (!all || count < 2 || is_listed(argument("leave", ac, av), all, count))
        return ESPANK_SUCCESS;
    char own[LONGEST_NAME];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    char **next = calloc(count + 3, sizeof *next);
    if (length <= 0 || !next)
        return ESPANK_SUCCESS;
    own[length] = 0;
    next[0] = (char *)command;
    next[1] = "run";
    next[2] = own;
    memcpy(next + 3, all + 1, (count - 1) * sizeof *next);
    execv(command, next);
    return ESPANK_SUCCESS;
}
