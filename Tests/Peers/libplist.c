/* Measures libplist's readers and writers of XML and binary property lists. Commands: driver.h. */
#include "driver.h"
#include <plist/plist.h>

struct input {
    char *bytes;
    size_t count;
};

typedef void (*reader)(const char *bytes, uint32_t count, plist_t *value);
typedef void (*writer)(plist_t value, char **bytes, uint32_t *count);

struct prepared {
    struct input input;
    plist_t value;
    reader read;
    writer write;
};

static struct input contents_of(const char *path) {
    struct input input = {0};
    FILE *file = fopen(path, "rb");
    if (!file) return input;
    fseek(file, 0, SEEK_END);
    input.count = ftell(file);
    rewind(file);
    input.bytes = malloc(input.count + 1);
    if (fread(input.bytes, 1, input.count, file) != input.count) input.count = 0;
    input.bytes[input.count] = 0;
    fclose(file);
    return input;
}

static size_t read_once(void *context) {
    struct prepared *prepared = context;
    plist_t value = NULL;
    prepared->read(prepared->input.bytes, prepared->input.count, &value);
    if (!value) return 0;
    plist_free(value);
    return prepared->input.count;
}

static size_t write_once(void *context) {
    struct prepared *prepared = context;
    char *bytes = NULL;
    uint32_t count = 0;
    prepared->write(prepared->value, &bytes, &count);
    free(bytes);
    return count;
}

static void answer(const char *operation, const char *format, const char *path) {
    int is_xml = !strcmp(format, "xml");
    struct prepared prepared = {
        contents_of(path), NULL, is_xml ? plist_from_xml : plist_from_bin, is_xml ? plist_to_xml : plist_to_bin};
    if (!strcmp(operation, "read")) {
        measure_and_answer(read_once, &prepared);
    } else {
        prepared.read(prepared.input.bytes, prepared.input.count, &prepared.value);
        measure_and_answer(write_once, &prepared);
        plist_free(prepared.value);
    }
    free(prepared.input.bytes);
}

int main(void) {
    puts("ready libplist " VERSION);
    answer_commands(answer);
    return 0;
}
