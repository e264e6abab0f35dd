/* replace FOLDER COUNT BYTES [COPIES]: replaces COUNT files in FOLDER, each durably, and syncs the folder at the end.
   Then keeps COPIES copies, which are renamed and not synced, as a history does. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count < 4 || count > 5 || chdir(words[1]) != 0) return 2;
    long copies = count == 5 ? atol(words[4]) : 0;
    size_t size = strtoul(words[3], NULL, 10);
    char *bytes = malloc(size);
    memset(bytes, 'x', size);
    for (long number = 0; number < atol(words[2]); number++) {
        char name[32], temporary[32];
        snprintf(name, sizeof name, "f%ld", number);
        snprintf(temporary, sizeof temporary, ".t%ld", number);
        int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0 || write(file, bytes, size) != (ssize_t)size || fsync(file) != 0) return 1;
        if (close(file) != 0 || rename(temporary, name) != 0) return 1;
    }
    int folder = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || fsync(folder) != 0) return 1;
    for (long number = 0; number < copies; number++) {
        char name[32];
        snprintf(name, sizeof name, "v%ld", number);
        int file = open(".c", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0 || write(file, bytes, size) != (ssize_t)size || rename(".c", name) != 0) return 1;
    }
    return 0;
}
