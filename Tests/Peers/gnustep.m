/* Measures GNUstep's reader and writer of OpenStep property lists. Commands: driver.h. */
#include "driver.h"
#import <Foundation/Foundation.h>

static id value_in(NSData *data) {
    return [NSPropertyListSerialization propertyListWithData:data options:NSPropertyListImmutable format:NULL error:NULL];
}

static size_t read_once(void *data) {
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    size_t count = value_in(data) ? [(NSData *)data length] : 0;
    [pool release];
    return count;
}

static size_t write_once(void *value) {
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    size_t count = [[NSPropertyListSerialization dataWithPropertyList:value
                                                               format:NSPropertyListOpenStepFormat
                                                              options:0
                                                                error:NULL] length];
    [pool release];
    return count;
}

static void answer(const char *operation, const char *format, const char *path) {
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    NSData *data = [NSData dataWithContentsOfFile:[NSString stringWithUTF8String:path]];
    if (!strcmp(operation, "read"))
        measure_and_answer(read_once, data);
    else
        measure_and_answer(write_once, value_in(data));
    [pool release];
}

int main(void) {
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    printf("ready GNUstep %d.%d.%d\n", GNUSTEP_BASE_MAJOR_VERSION, GNUSTEP_BASE_MINOR_VERSION,
           GNUSTEP_BASE_SUBMINOR_VERSION);
    answer_commands(answer);
    [pool release];
    return 0;
}
