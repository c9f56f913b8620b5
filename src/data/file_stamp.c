#define _POSIX_C_SOURCE 200809L
#include "data/file_stamp.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/system/system_call.h"

gram_status gram_file_stamp_take(gram_context *context, const char *path, gram_file_stamp *stamp)
{
    gram_status status = GRAM_OK;
    struct stat facts;
    char reason[GRAM_SYSTEM_REASON_SIZE];
    FAIL_IF(strcmp(path, "-") == 0, context, GRAM_ERROR_UNSUPPORTED, "standard input can be read only once");
    FAIL_IF(stat(path, &facts) != 0, context, GRAM_ERROR_FILE, "%s: %s", path, gram_system_reason(errno, reason));
    FAIL_IF(!S_ISREG(facts.st_mode), context, GRAM_ERROR_UNSUPPORTED, "%s: it can be read only once", path);
    *stamp = (gram_file_stamp){.device = (int64_t)facts.st_dev,
                               .number = (int64_t)facts.st_ino,
                               .size = (int64_t)facts.st_size,
                               .written = {(int64_t)facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec},
                               .changed = {(int64_t)facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec}};
done:
    if (status == GRAM_ERROR_UNSUPPORTED)
        (void)gram_advise(context, status, "Passes need a file that can be read again.");
    return status;
}

gram_status gram_file_stamp_check(gram_context *context, const char *path, const gram_file_stamp *stamp)
{
    gram_status status = GRAM_OK;
    gram_file_stamp now;
    TRY(gram_file_stamp_take(context, path, &now));
    if (memcmp(&now, stamp, sizeof now) == 0) return status;
    status = gram_fail(
        context, GRAM_ERROR_DATA,
        "%s: the file was changed while it was being read: what one pass found does not hold in the next", path);
    (void)gram_advise(context, status, "Run it again when nothing writes to the file, or on a copy.");
done:
    return status;
}
