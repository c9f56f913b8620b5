/* Drives a fuzz target without libFuzzer: driver MUTATIONS FOLDER.
 *
 * Runs every file of FOLDER as it is, then MUTATIONS inputs made from them by a generator of fixed seed, so that a
 * failure repeats. When a target dies, its input is written to crash-PROGRAM in the current folder. Stops early, and says
 * so, after GRAM_FUZZ_SECONDS (default 3) to keep the tests short on a slow machine. */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *count, char ***arguments) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) __attribute__((weak));
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

enum { MAX_INPUTS = 4096, MAX_SIZE = 1 << 16 };

typedef struct input {
    uint8_t *data;
    size_t size;
} input;

static input inputs[MAX_INPUTS];
static int input_count;
static uint8_t current[MAX_SIZE];
static size_t current_size;
static char crash_file[4096]; /* with its folder: a target may go elsewhere */
static uint64_t random_state = 0x6772616d;

/* splitmix64 */
static uint64_t random_bits(void)
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t random_below(size_t n)
{
    return n ? (size_t)(random_bits() % n) : 0;
}

static void keep_input(void)
{
    const int file = open(crash_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0) return;
    if (write(file, current, current_size) < 0) return;
    (void)close(file);
}

static void on_signal(int number)
{
    keep_input();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void on_death(const char *program)
{
    const char *slash = strrchr(program, '/');
    char here[2048] = ".";
    if (!getcwd(here, sizeof here)) (void)strcpy(here, ".");
    snprintf(crash_file, sizeof crash_file, "%s/crash-%s", here, slash ? slash + 1 : program);
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(keep_input);
        return;
    }
    const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) (void)signal(signals[i], on_signal);
}

static void run_current(void)
{
    /* a copy of exactly its size, so that the sanitizer sees a read past its end */
    uint8_t *copy = malloc(current_size ? current_size : 1);
    if (!copy) exit(1);
    memcpy(copy, current, current_size);
    (void)LLVMFuzzerTestOneInput(copy, current_size);
    free(copy);
}

static void read_input(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return;
    current_size = fread(current, 1, sizeof current, file);
    (void)fclose(file);
    input *in = &inputs[input_count++];
    in->data = malloc(current_size ? current_size : 1);
    in->size = current_size;
    if (!in->data) exit(1);
    memcpy(in->data, current, current_size);
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void read_folder(const char *folder)
{
    struct dirent **entries;
    const int count = scandir(folder, &entries, visible, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (input_count < MAX_INPUTS) read_input(path);
        free(entries[i]);
    }
    if (count >= 0) free(entries);
}

static void take(const input *in)
{
    memcpy(current, in->data, in->size);
    current_size = in->size;
}

/* Makes room for `length` bytes at `place`, or none when the input is full. */
static size_t open_gap(size_t place, size_t length)
{
    if (current_size + length > MAX_SIZE) return 0;
    memmove(current + place + length, current + place, current_size - place);
    current_size += length;
    return length;
}

static void remove_piece(void)
{
    const size_t place = random_below(current_size);
    const size_t length = 1 + random_below(current_size - place < 16 ? current_size - place : 16);
    const size_t end = place + length < current_size ? place + length : current_size;
    memmove(current + place, current + end, current_size - end);
    current_size -= end - place;
}

static void repeat_piece(void)
{
    uint8_t piece[32];
    const size_t from = random_below(current_size);
    const size_t room = current_size - from < sizeof piece ? current_size - from : sizeof piece;
    const size_t length = random_below(room + 1);
    memcpy(piece, current + from, length);
    const size_t place = random_below(current_size + 1);
    memcpy(current + place, piece, open_gap(place, length));
}

/* A piece of another input at a random place. */
static void splice(void)
{
    const input *other = &inputs[random_below((size_t)input_count)];
    if (other->size == 0) return;
    const size_t from = random_below(other->size);
    const size_t length = random_below(other->size - from + 1);
    const size_t place = random_below(current_size + 1);
    memcpy(current + place, other->data + from, open_gap(place, length));
}

static void mutate(void)
{
    const size_t kind = current_size ? random_below(7) : 6;
    if (kind == 0) current[random_below(current_size)] ^= (uint8_t)(1u << random_below(8));
    if (kind == 1) current[random_below(current_size)] = (uint8_t)random_bits();
    if (kind == 2) current[random_below(current_size)] = (uint8_t)(' ' + random_below('~' - ' ' + 1));
    if (kind == 3) remove_piece();
    if (kind == 4) repeat_piece();
    if (kind == 5) current_size = random_below(current_size);
    if (kind == 6) splice();
}

/* One step, for a mutator of the target's own, which works on another buffer than the driver. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    static uint8_t kept[MAX_SIZE];
    const size_t kept_size = current_size;
    memcpy(kept, current, kept_size);
    current_size = size < MAX_SIZE ? size : MAX_SIZE;
    memcpy(current, data, current_size);
    mutate();
    size = current_size < most ? current_size : most;
    memcpy(data, current, size);
    current_size = kept_size;
    memcpy(current, kept, kept_size);
    return size;
}

static void change(void)
{
    if (LLVMFuzzerCustomMutator)
        current_size = LLVMFuzzerCustomMutator(current, current_size, MAX_SIZE, (unsigned)random_bits());
    else
        mutate();
}

int main(int count, char **arguments)
{
    if (count != 3) {
        fprintf(stderr, "usage: %s MUTATIONS FOLDER\n", arguments[0]);
        return 2;
    }
    if (LLVMFuzzerInitialize) (void)LLVMFuzzerInitialize(&count, &arguments);
    on_death(arguments[0]);
    read_folder(arguments[2]);
    if (input_count == 0) {
        fprintf(stderr, "%s: no inputs in %s\n", arguments[0], arguments[2]);
        return 1;
    }
    for (int i = 0; i < input_count; i++) {
        take(&inputs[i]);
        run_current();
    }
    const char *limit = getenv("GRAM_FUZZ_SECONDS");
    const time_t end = time(NULL) + (limit ? atoi(limit) : 3);
    const long mutations = atol(arguments[1]);
    long done = 0;
    for (; done < mutations && time(NULL) < end; done++) {
        take(&inputs[random_below((size_t)input_count)]);
        for (size_t steps = 1 + random_below(6); steps > 0; steps--) change();
        run_current();
    }
    printf("%d inputs, %ld of %ld mutations\n", input_count, done, mutations);
    for (int i = 0; i < input_count; i++) free(inputs[i].data);
    return 0;
}
