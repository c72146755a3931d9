/* A program that uses Slurm's libpmi2. Rank 0 prints which ranks share a node, from the launcher's mapping; each rank
 * checks that the names of nodes, the attributes of its node and the environment agree with the mapping. */
#include <slurm/pmi2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 256

static int rank, size, node_of[MOST];

static void check(int is_right, const char *what)
{
    if (!is_right) {
        printf("rank %d: %s\n", rank, what);
        exit(1);
    }
}

/* The node of each rank, from (vector,(first,nodes,ranks),...). */
static void read_mapping(const char *text)
{
    int known = 0, first, nodes, ranks, node, i, length;

    check(strncmp(text, "(vector", 7) == 0, text);
    for (text += 7; sscanf(text, ",(%d,%d,%d)%n", &first, &nodes, &ranks, &length) == 3; text += length)
        for (node = first; node < first + nodes; node++)
            for (i = 0; i < ranks && known < MOST; i++)
                node_of[known++] = node;
    check(known == size, "a mapping of other ranks");
}

static void get(int of, char *value)
{
    char key[32];
    int length;

    snprintf(key, sizeof key, "name%d", of);
    check(PMI2_KVS_Get(NULL, PMI2_ID_NULL, key, value, PMI2_MAX_VALLEN, &length) == PMI2_SUCCESS, "no name");
}

static int number(const char *name)
{
    const char *text = getenv(name);
    return text ? atoi(text) : -1;
}

int main(int argc, char **argv)
{
    char text[PMI2_MAX_VALLEN], own[PMI2_MAX_VALLEN], key[32], *name = getenv("SLURMD_NODENAME");
    const char *all = getenv("SLURM_GTIDS");
    int spawned, appnum, found, i, j, is_first = 1, is_listed = 0;

    check(PMI2_Init(&spawned, &size, &rank, &appnum) == PMI2_SUCCESS && size <= MOST, "PMI2_Init");
    check(number("PMI_RANK") == rank && number("SLURM_PROCID") == rank, "another rank in the environment");
    check(PMI2_Info_GetJobAttr("PMI_process_mapping", text, sizeof text, &found) == PMI2_SUCCESS && found, "no mapping");
    read_mapping(text);
    snprintf(key, sizeof key, "name%d", rank);
    check(PMI2_KVS_Put(key, name) == PMI2_SUCCESS && PMI2_KVS_Fence() == PMI2_SUCCESS, "PMI2_KVS_Put");
    get(rank, own);
    for (i = 0; i < size; i++) {
        get(i, text);
        check((strcmp(own, text) == 0) == (node_of[i] == node_of[rank]), "the mapping and names of nodes differ");
        is_first = is_first && (i >= rank || node_of[i] != node_of[rank]);
    }
    if (is_first) {
        snprintf(text, sizeof text, "%d", rank);
        check(PMI2_Info_PutNodeAttr("first", text) == PMI2_SUCCESS, "PMI2_Info_PutNodeAttr");
    }
    check(PMI2_Info_GetNodeAttr("first", text, sizeof text, &found, 1) == PMI2_SUCCESS && found, "no attribute");
    check(node_of[atoi(text)] == node_of[rank], "an attribute of another node");
    for (; all && *all; all += strcspn(all, ","), all += *all == ',') {
        is_listed = is_listed || atoi(all) == rank;
        check(node_of[atoi(all)] == node_of[rank], "SLURM_GTIDS");
    }
    check(is_listed, "SLURM_GTIDS without this rank");
    for (i = 0; rank == 0 && i < size; i++) {
        for (j = 0; j < i && node_of[j] != node_of[i]; j++)
            ;
        if (j < i)
            continue;
        printf("%d", i);
        for (j = i + 1; j < size; j++)
            if (node_of[j] == node_of[i])
                printf(" %d", j);
        printf("\n");
    }
    fflush(stdout);
    if (argc > 1 && strcmp(argv[1], "abort") == 0 && rank == 2)
        PMI2_Abort(1, "as asked");
    PMI2_KVS_Fence();
    PMI2_Finalize();
    return argc > 1 && strcmp(argv[1], "code") == 0 && rank == 1 ? 3 : 0;
}
