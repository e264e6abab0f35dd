/* The common part of all drivers of peers.
 *
 * A driver prints the line "ready NAME VERSION" when it is ready. Then it answers each command on standard input,
 *
 *     read|write|decode|encode FORMAT LOAD PATH
 *
 * with the line "NANOSECONDS BYTES": the time for reading the file, or for writing the value read from it, and the size
 * of the file or of the output.
 *
 * All peers measure by the same rule. The time is the processor time of the whole process. A sample is as many calls as
 * take a millisecond. There are at least three samples, taken for at least 100 ms, and the best one is used. A call
 * releases its results; in `Benchmarks formats`, the environment makes all allocators keep that memory. Each format is
 * measured in a new process, because earlier work fragments the memory. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One call of the measured function, with the data that the driver prepared. Returns the number of bytes, or 0 for a
 * failure. */
typedef size_t (*work)(void *prepared);

static int64_t processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void measure_and_answer(work work, void *prepared) {
    int64_t total = 0, best = INT64_MAX;
    size_t bytes = 0;
    long repeats = 1;
    for (int samples = 0; total < 100000000 || samples < 3;) {
        int64_t start = processor_time();
        for (long call = 0; call < repeats; call++) bytes = work(prepared);
        int64_t elapsed = processor_time() - start;
        if (bytes == 0) break;
        if (samples == 0 && elapsed < 1000000) {
            repeats *= 2;
            continue;
        }
        samples++;
        total += elapsed;
        if (elapsed < best) best = elapsed;
    }
    if (bytes == 0)
        puts("failed");
    else
        printf("%.1f %zu\n", (double)best / repeats, bytes);
    fflush(stdout);
}

/* Calls answer with each command's operation, format and path. */
static void answer_commands(void (*answer)(const char *operation, const char *format, const char *path)) {
    char line[4096], operation[16], format[16], load[16], path[4096];
    fflush(stdout);
    while (fgets(line, sizeof line, stdin))
        if (sscanf(line, "%15s %15s %15s %4095[^\n]", operation, format, load, path) == 4) answer(operation, format, path);
}
