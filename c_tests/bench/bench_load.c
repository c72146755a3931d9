/* The time that preloading adds to a program: bench_load RUNS PROCESSES LIBRARY [REPORT]
 *
 * Prints a line in the format of bench.h: median milliseconds from the start of a small program to the end of its
 * MPI_Finalize on rank 0, bare and with LIBRARY preloaded; with REPORT, preloaded without and with
 * CARTOGRAPH_REPORT=REPORT. The program creates a grid of all processes and frees it. The command in the variable
 * LAUNCH starts the program once for each run; the time of the launcher is not counted. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

/* In a rank: takes the time and executes the measured program. */
static int start(char **argv)
{
    char text[64];
    snprintf(text, sizeof text, "%.9f", now());
    setenv("BENCH_STARTED", text, 1);
    if (*argv[2])
        setenv("LD_PRELOAD", argv[2], 1);
    if (*argv[3])
        setenv("CARTOGRAPH_REPORT", argv[3], 1);
    execl(argv[0], argv[0], "run", (char *)NULL);
    return 1;
}

static int run(int argc, char **argv)
{
    int rank, size, dims[2] = { 0, 0 }, periods[2] = { 1, 1 };
    double seconds;
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    seconds = now() - atof(getenv("BENCH_STARTED"));
    if (rank == 0)
        printf("%.9f\n", seconds);
    return 0;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double launch(const char *self, const char *library, const char *report)
{
    char command[4096], line[64] = "";
    FILE *output;
    snprintf(command, sizeof command, "%s %s start '%s' '%s'", getenv("LAUNCH"), self, library, report);
    output = popen(command, "r");
    if (!output || !fgets(line, sizeof line, output) || pclose(output)) {
        fprintf(stderr, "bench_load: this failed: %s\n", command);
        exit(1);
    }
    return atof(line);
}

int main(int argc, char **argv)
{
    int runs, processes;
    double *seconds[2];
    if (argc > 1 && !strcmp(argv[1], "start"))
        return start(argv);
    if (argc > 1 && !strcmp(argv[1], "run"))
        return run(argc, argv);
    runs = atoi(argv[1]), processes = atoi(argv[2]);
    const char *library = argv[3], *report = argc > 4 ? argv[4] : NULL;
    for (int of = 0; of < 2; of++)
        seconds[of] = calloc(runs, sizeof(double));
    for (int i = -1; i < runs; i++)
        for (int of = 0; of < 2; of++) {
            double took = launch(argv[0], of || report ? library : "", of && report ? report : "");
            if (i >= 0)
                seconds[of][i] = took;
        }
    for (int of = 0; of < 2; of++)
        qsort(seconds[of], runs, sizeof(double), ascending);
    printf("load\t%s\t0\t%d\tms\t%.9g\t%.9g\n",
           report ? "preloaded, without and with CARTOGRAPH_REPORT" : "from start to end, bare and preloaded",
           processes, 1e3 * seconds[0][runs / 2], 1e3 * seconds[1][runs / 2]);
    return 0;
}
