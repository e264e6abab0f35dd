/* What every driver of a peer has in common.
 *
 * A driver prints one line when it is ready, "ready NAME VERSION", then answers each command on standard input,
 *
 *     read|write|decode|encode FORMAT LOAD PATH
 *
 * with one line, "NANOSECONDS BYTES": what reading the file, or writing the value read from it, takes.
 *
 * The rule by which all contenders measure: processor time of the whole process; a sample is as many calls as
 * take a millisecond; samples are taken for 100 ms, at least three; the best one counts. A call releases what it
 * made; in `Benchmarks formats` all processes keep that memory, as their environment tells the allocator. Formats are
 * read and written by a process that has done nothing else, for what one has read before leaves its memory in pieces.
 * Bytes are those of the file read, or of the output written. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One call of what is measured, told what the driver prepared; the number of bytes it handled, or 0 if it failed. */
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
