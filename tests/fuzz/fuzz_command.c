/* The whole command, in this process: arguments and files.
 *
 * An input is lines of arguments, then the texts of data.csv (also standard input) and b.csv, each after a line of a
 * form feed. m0.gram, m1.gram, ... are models of a table with text, ma.gram, mb.gram, ... of every row of the method table,
 * made at the start. Arguments that name another folder are left out, and so are pictures, which are another program's; one
 * thread and a small budget are added. A run that takes a second of processor time is interrupted, as by Ctrl-C, and must then
 * end.
 *
 * Required: an exit code that is documented, a message for every failure, right JSON, no file left aside. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "method_models.h"
#include "require.h"

/* Two files of the command are part of this one: main is no main here, and what a signal leaves behind is cleared. */
#define main command_main
#include "cli/main.c"
#undef main
#include <unistd.h>
static void alarmed(int code);
#define _exit alarmed
#include "cli/terminal/session.c"
#undef _exit

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void __sanitizer_set_report_fd(void *descriptor) __attribute__((weak));

enum { MOST_ARGUMENTS = 40, ARGUMENTS_SIZE = 1024, MOST_TEXT = 4096 };

static char folder[64];
static int kept_streams[3], output = -1, errors = -1;
static timer_t timer;
static struct sigaction alarm_before;

/* SIGALRM ends the command after a second signal; here it is libFuzzer's clock, which ends what takes too long. */
static void alarmed(int code)
{
    (void)code;
    require(alarm_before.sa_flags & SA_SIGINFO);
    alarm_before.sa_sigaction(SIGALRM, NULL, NULL);
}

/* ---- a folder of its own ---- */

static int is_kept(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || (name[0] == 'm' && strlen(name) == 7);
}

/* Removes what a run left. Names that begin with a point or end with ~ are files written aside: they may not stay. */
static void clean(void)
{
    DIR *all = opendir(folder);
    require(all != NULL);
    for (const struct dirent *entry; (entry = readdir(all));) {
        const size_t length = strlen(entry->d_name);
        if (is_kept(entry->d_name)) continue;
        require(entry->d_name[0] != '.' && entry->d_name[length - 1] != '~');
        require(unlinkat(dirfd(all), entry->d_name, 0) == 0);
    }
    (void)closedir(all);
}

static void remove_folder(void)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    (void)!system(command);
}

static void write_text(const char *name, const char *text, size_t length)
{
    const int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    require(file >= 0 && write(file, text, length) == (ssize_t)length && close(file) == 0);
}

/* ---- one run ---- */

static void stream_to(int stream, int descriptor)
{
    require(descriptor >= 0 && dup2(descriptor, stream) == stream);
}

/* getopt remembers a word of several short options that it stopped in, as the process that ends then need not. */
static void forget_options(void)
{
    char name[] = "gram", *only[] = {name, NULL};
    optind = 0;
    (void)getopt_long(1, only, "", NULL, NULL);
}

static void begin_run(void)
{
    const struct itimerspec second = {.it_value = {1, 0}};
    const int input = open("data.csv", O_RDONLY | O_CLOEXEC);
    (void)fflush(NULL);
    require(ftruncate(output, 0) == 0 && ftruncate(errors, 0) == 0);
    require(lseek(output, 0, SEEK_SET) == 0 && lseek(errors, 0, SEEK_SET) == 0);
    stream_to(STDIN_FILENO, input);
    stream_to(STDOUT_FILENO, output);
    stream_to(STDERR_FILENO, errors);
    (void)close(input);
    caught_signal = 0;
    forget_options();
    require(timer_settime(timer, 0, &second, NULL) == 0);
}

static void end_run(void)
{
    const struct itimerspec never = {.it_value = {0, 0}};
    require(timer_settime(timer, 0, &never, NULL) == 0);
    (void)fflush(NULL);
    for (int stream = 0; stream < 3; stream++) stream_to(stream, kept_streams[stream]);
}

static int run(int count, char **arguments)
{
    static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ, SIGALRM};
    struct sigaction before[sizeof SIGNALS / sizeof *SIGNALS];
    for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++) (void)sigaction(SIGNALS[i], NULL, &before[i]);
    (void)sigaction(SIGALRM, NULL, &alarm_before);
    begin_run();
    const int code = command_main(count, arguments);
    end_run();
    for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++) (void)sigaction(SIGNALS[i], &before[i], NULL);
    return code;
}

/* ---- what is required of it ---- */

static void check_errors(int code)
{
    static char text[1 << 16];
    const ssize_t length = pread(errors, text, sizeof text - 1, 0);
    require(length >= 0);
    text[length] = '\0';
    require(code == CLI_DONE || code == CLI_REJECTED || strstr(text, "gram: ") || strncmp(text, "Usage: ", 7) == 0);
}

static void check_json(void)
{
    struct stat facts;
    require(fstat(output, &facts) == 0);
    if (facts.st_size == 0) return;
    char *text = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_SHARED, output, 0);
    require(text != MAP_FAILED);
    json_t *json = json_loadb(text, (size_t)facts.st_size, 0, NULL);
    require(json != NULL);
    json_decref(json);
    (void)munmap(text, (size_t)facts.st_size);
}

static void check(int code, int count, char **arguments)
{
    require((code >= CLI_WRONG_USE && code <= CLI_OVER_LIMIT) || code == CLI_DONE || code == CLI_REJECTED ||
            code == 128 + SIGRTMIN);
    check_errors(code);
    for (int i = 1; i < count; i++)
        if ((code == CLI_DONE || code == CLI_REJECTED) && strcmp(arguments[i], "--json") == 0) {
            check_json();
            return;
        }
}

/* ---- the start ---- */

static void make_models(void)
{
    static const char TEXT[] =
        "a,b,y,c\n1,2,0.5,u\n2,1,1.5,v\n3,5,2,u\n4,2,0,v\n5,4,1,u\n6,1,3,v\n7,8,2.5,u\n8,3,2,v\n";
    static char *const FITS[][16] = {
        {"gram", "fit", "data.csv", "--target", "y", "--ignore", "c", "--lambda", "0.1", "-o", "m0.gram"},
        {"gram", "fit", "data.csv", "--target", "y", "--method", "gp", "--noise", "0.1", "-o", "m1.gram"},
        {"gram", "fit", "data.csv", "--target", "c", "--method", "svm", "--C", "1", "-o", "m2.gram"},
        {"gram", "fit", "data.csv", "--target", "c", "--method", "gp", "--tune", "none", "-o", "m3.gram"},
        {"gram", "fit", "data.csv", "--target", "y", "--quantile", "0.5", "-o", "m4.gram"}};
    for (size_t i = 0; i < sizeof FITS / sizeof *FITS; i++) {
        char *arguments[16];
        int count = 0;
        for (; FITS[i][count]; count++) arguments[count] = FITS[i][count];
        arguments[count] = NULL;
        write_text("data.csv", TEXT, sizeof TEXT - 1);
        (void)run(count, arguments);
    }
    for (int i = 0; i < WAYS; i++) {
        char path[] = "m?.gram";
        path[1] = (char)(i < 26 ? 'a' + i : 'A' + i - 26);
        fit_way(&ways[i], path);
    }
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    struct sigaction action = {.sa_handler = on_signal};
    char away[4096];
    (void)count, (void)arguments;
    (void)setenv("OMP_WAIT_POLICY", "passive", 1);
    (void)setenv("OMP_NUM_THREADS", "1", 1);
    (void)snprintf(folder, sizeof folder, "/dev/shm/fuzz_command.%ld", (long)getpid());
    require(mkdir(folder, 0700) == 0 && atexit(remove_folder) == 0);
    for (int stream = 0; stream < 3; stream++) kept_streams[stream] = fcntl(stream, F_DUPFD_CLOEXEC, 10);
    if (__sanitizer_set_report_fd) __sanitizer_set_report_fd((void *)(intptr_t)kept_streams[STDERR_FILENO]);
    output = memfd_create("output", MFD_CLOEXEC);
    errors = memfd_create("errors", MFD_CLOEXEC);
    require(output >= 0 && errors >= 0);
    require(sigaction(SIGRTMIN, &action, NULL) == 0);
    require(timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0);
    require(getcwd(away, sizeof away) && chdir(folder) == 0);
    make_models(); /* here, where libFuzzer's clock for one input does not run */
    require(chdir(away) == 0);
    return 0;
}

/* ---- inputs ---- */

/* The text up to the next line of a form feed; *rest is after it. */
static size_t section(const uint8_t *data, size_t size, size_t *rest)
{
    const uint8_t *end = memmem(data, size, "\f\n", 2);
    *rest = end ? (size_t)(end - data) + 2 : size;
    return end ? (size_t)(end - data) : size;
}

static int split(const uint8_t *data, size_t length, char *text, char **arguments)
{
    static char *const LIMITS[] = {"--threads", "1", "--memory", "64M"};
    int count = 0;
    arguments[count++] = (char *)"gram";
    if (length >= ARGUMENTS_SIZE || memchr(data, '/', length) || memmem(data, length, "..", 2)) return 0;
    memcpy(text, data, length);
    text[length] = '\0';
    for (char *at = text, *end; *at && count + 4 < MOST_ARGUMENTS; at = end + 1) {
        end = strchr(at, '\n');
        if (!end) break;
        *end = '\0';
        if (strncmp(at, "--pl", 4) == 0) return 0;
        arguments[count++] = at;
    }
    for (size_t i = 0; i < sizeof LIMITS / sizeof *LIMITS; i++) arguments[count++] = LIMITS[i];
    arguments[count] = NULL;
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[ARGUMENTS_SIZE];
    char *arguments[MOST_ARGUMENTS + 1];
    char away[4096];
    size_t rest, next;
    const size_t length = section(data, size, &rest);
    const int count = split(data, length, text, arguments);
    if (count < 6 || size - rest > 2 * MOST_TEXT) return 0;
    const size_t first = section(data + rest, size - rest, &next), second = size - rest - next;
    require(getcwd(away, sizeof away) && chdir(folder) == 0);
    clean();
    write_text("data.csv", (const char *)data + rest, first);
    write_text("b.csv", (const char *)data + rest + next, second);
    check(run(count, arguments), count, arguments);
    clean();
    require(chdir(away) == 0);
    return 0;
}
