/* replace FOLDER COUNT BYTES: replaces COUNT files in FOLDER, each durably, and syncs the folder at the end. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words) {
    if (count != 4 || chdir(words[1]) != 0) return 2;
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
    return folder < 0 || fsync(folder) != 0;
}
