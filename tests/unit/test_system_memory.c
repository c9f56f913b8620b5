/* The default memory budget and number of threads: from the files of a system that is not this one, and under limits. */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gram/cholesky.h>

#include "base/memory.h"
#include "support.h"

static char root[64];

static void put(const char *path, const char *text)
{
    char name[256];
    snprintf(name, sizeof name, "%s%s", root, path);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void folder(const char *path)
{
    char name[256];
    snprintf(name, sizeof name, "%s%s", root, path);
    assert_int_equal(mkdir(name, 0777), 0);
}

static int enter(void **state)
{
    (void)state;
    static const char *const folders[] = {"/proc",
                                          "/proc/self",
                                          "/sys",
                                          "/sys/fs",
                                          "/sys/fs/cgroup",
                                          "/sys/fs/cgroup/a",
                                          "/sys/fs/cgroup/a/b",
                                          "/sys/fs/cgroup/memory",
                                          "/sys/fs/cgroup/memory/a",
                                          "/sys/fs/cgroup/memory/a/b"};
    snprintf(root, sizeof root, "/tmp/gram-memory-XXXXXX");
    if (!mkdtemp(root)) return -1;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) folder(folders[i]);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", root);
    return system(command);
}

static void test_nothing_known(void **state)
{
    (void)state;
    assert_true(gram_system_memory_free(root) == (size_t)-1);
}

static void test_available(void **state)
{
    (void)state;
    put("/proc/meminfo", "MemTotal:       1000000 kB\nMemFree: 5 kB\nMemAvailable:     700000 kB\n");
    assert_int_equal(gram_system_memory_free(root), 700000 * 1024);
    put("/proc/self/cgroup", "1:name=systemd:/x\n0::/a/b\n");
    assert_int_equal(gram_system_memory_free(root), 700000 * 1024);
    put("/sys/fs/cgroup/a/b/memory.max", "max\n");
    put("/sys/fs/cgroup/a/b/memory.current", "100\n");
    assert_int_equal(gram_system_memory_free(root), 700000 * 1024);
}

/* This group, its parent, and the top: the least counts. */
static void test_groups(void **state)
{
    (void)state;
    put("/proc/meminfo", "MemAvailable: 700000 kB\n");
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/b/memory.max", "100000000\n");
    put("/sys/fs/cgroup/a/b/memory.current", "30000000\n");
    assert_int_equal(gram_system_memory_free(root), 70000000);
    put("/sys/fs/cgroup/a/memory.max", "50000000\n");
    put("/sys/fs/cgroup/a/memory.current", "45000000\n");
    assert_int_equal(gram_system_memory_free(root), 5000000);
    put("/sys/fs/cgroup/memory.max", "10\n");
    put("/sys/fs/cgroup/memory.current", "11\n");
    assert_int_equal(gram_system_memory_free(root), 0);
    put("/proc/self/cgroup", "0::/\n");
    assert_int_equal(gram_system_memory_free(root), 0);
}

/* Version 1 of control groups, as containers of older systems have it: the line of the memory controller, alone or among
 * others; a limit of about 2^63 is none; the path may be the host's, of which only the mount is there. */
static void test_groups_of_version_1(void **state)
{
    (void)state;
    put("/proc/meminfo", "MemAvailable: 700000 kB\n");
    put("/proc/self/cgroup", "11:cpu,cpuacct:/x\n4:hugetlb,memory:/a/b\n3:memoryless:/a\n1:name=systemd:/x\n");
    put("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "100000000\n");
    put("/sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "30000000\n");
    assert_int_equal(gram_system_memory_free(root), 70000000);
    put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "50000000\n");
    put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "45000000\n");
    assert_int_equal(gram_system_memory_free(root), 5000000);
    put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(gram_system_memory_free(root), 70000000);
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "500000\n");
    assert_int_equal(gram_system_memory_free(root), 1500000);
    put("/proc/self/cgroup", "4:memory:/docker/of/the/host\n");
    assert_int_equal(gram_system_memory_free(root), 1500000);
}

/* ---- RLIMIT_AS, in a child that has the limit to itself ---- */

static const size_t MIB = 1 << 20;

/* A child says where something is not as it should be by its exit code: the line, modulo 255. */
#define HOLDS(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) _exit(__LINE__ % 255 + 1);                                                                   \
    } while (0)

static size_t mapped_now(void)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    HOLDS(file && fscanf(file, "%llu", &pages) == 1);
    fclose(file);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

static int is_near(size_t a, size_t b)
{
    return (a > b ? a - b : b - a) < 4 * MIB;
}

static void limit_to(size_t more)
{
    const struct rlimit limit = {mapped_now() + more, mapped_now() + more};
    HOLDS(setrlimit(RLIMIT_AS, &limit) == 0);
    alarm(60); /* ends a process that waits for BLAS */
}

static void run_in_child(void (*body)(void))
{
    int ended = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    if (ended) print_error("the child ended with %d\n", WIFEXITED(ended) ? WEXITSTATUS(ended) : -WTERMSIG(ended));
    assert_int_equal(ended, 0);
}

static gram_context *make_context(int threads)
{
    gram_context_options options;
    gram_context *context = NULL;
    gram_context_options_init(&options, sizeof options);
    options.threads = threads;
    HOLDS(gram_context_create(&options, &context) == GRAM_OK);
    return context;
}

/* 80 % of what is left, less 128 MiB for the calling thread and 196 MiB for each further one. */
static void look_at_budget(void)
{
    limit_to(1000 * MIB);
    HOLDS(is_near(gram_system_memory_budget(1), (1000 - 128) * MIB / 10 * 8));
    HOLDS(is_near(gram_system_memory_budget(2), (1000 - 128 - 196) * MIB / 10 * 8));
    HOLDS(gram_system_memory_budget(20) == MIB);
    HOLDS(gram_system_threads(1) == 1);
    HOLDS(gram_system_threads(2) == 2);
    HOLDS(gram_system_threads(16) == 2); /* (500 - 128) / 196 beside the calling one */
}

/* Where there is no room for BLAS it is not called, and the failure says why. */
static void look_without_room(void)
{
    const double data[2] = {0, 1};
    gram_points *x = NULL;
    limit_to(100 * MIB);
    HOLDS(gram_system_threads(4) == 0);
    gram_context *context = make_context(2);
    HOLDS(gram_points_create_f64(context, 2, 1, data, 1, &x) == GRAM_ERROR_MEMORY);
    HOLDS(strstr(gram_context_message(context), "ulimit -v") != NULL);
    HOLDS(gram_context_advice(context)[0] != '\0');
}

/* Many threads are asked for and few fit: the work is done all the same. */
static void look_with_little_room(void)
{
    enum { N = 600 };
    static double data[N], shift[N], a[N];
    gram_kernel *kernel = NULL;
    gram_points *x = NULL;
    gram_cholesky *factor = NULL;
    limit_to(700 * MIB);
    gram_context *context = make_context(16);
    for (int i = 0; i < N; i++) data[i] = 0.1 * i, shift[i] = a[i] = 1;
    HOLDS(gram_kernel_parse(context, "rbf(ell=0.1)", &kernel) == GRAM_OK);
    HOLDS(gram_points_create_f64(context, N, 1, data, 1, &x) == GRAM_OK);
    HOLDS(gram_cholesky_create(context, kernel, x, shift, GRAM_STORAGE_F64, NULL, &factor) == GRAM_OK);
    HOLDS(gram_cholesky_solve(context, factor, 1, a, 1) == GRAM_OK);
}

static void test_address_space(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    skip(); /* takes terabytes of address space */
#endif
    if (gram_system_memory_free("") < 3000 * MIB) skip();
    run_in_child(look_at_budget);
    run_in_child(look_without_room);
    run_in_child(look_with_little_room);
}

/* Without RLIMIT_AS: 64 MiB and 40 MiB for each thread are left to BLAS and the runtime. */
static void test_budget(void **state)
{
    (void)state;
    assert_true(gram_system_memory_budget(4) <= gram_system_memory_free("") / 10 * 9);
    assert_int_equal(gram_system_memory_budget(100000), MIB);
    assert_true(gram_system_memory_peak() > 100000);
}

static void test_threads(void **state)
{
    (void)state;
    assert_in_range(gram_system_threads(0), 1, 128);
    assert_int_equal(gram_system_threads(1), 1);
    assert_in_range(gram_system_threads(100000), 1, 128);
    assert_true(gram_system_memory_budget(gram_system_threads(100000)) > gram_system_memory_free("") / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_known, enter, leave),
        cmocka_unit_test_setup_teardown(test_available, enter, leave),
        cmocka_unit_test_setup_teardown(test_groups, enter, leave),
        cmocka_unit_test_setup_teardown(test_groups_of_version_1, enter, leave),
        cmocka_unit_test(test_address_space),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
