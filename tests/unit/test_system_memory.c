/* The default memory budget, from the files of a system that is not this one. */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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
    static const char *const folders[] = {
        "/proc", "/proc/self", "/sys", "/sys/fs", "/sys/fs/cgroup", "/sys/fs/cgroup/a", "/sys/fs/cgroup/a/b"};
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

/* 80 % of RLIMIT_AS less 64 MiB and 40 MiB for each thread, where that is the least. */
static void test_budget(void **state)
{
    (void)state;
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    const size_t free_now = gram_system_memory_free("");
    const size_t wanted = (size_t)400 << 20;
    if (free_now < wanted * 2) skip();
    small = before;
    small.rlim_cur = wanted;
    if (setrlimit(RLIMIT_AS, &small) != 0) skip();
    const size_t two = gram_system_memory_budget(2), twenty = gram_system_memory_budget(20);
    (void)setrlimit(RLIMIT_AS, &before);
    assert_int_equal(two, (size_t)(400 - 64 - 80) * (1 << 20) / 10 * 8);
    assert_int_equal(twenty, 1 << 20);
    assert_true(gram_system_memory_peak() > 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_known, enter, leave),
        cmocka_unit_test_setup_teardown(test_available, enter, leave),
        cmocka_unit_test_setup_teardown(test_groups, enter, leave),
        cmocka_unit_test(test_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
