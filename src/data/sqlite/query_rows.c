#define _POSIX_C_SOURCE 200809L
#include "data/sqlite/query_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef GRAM_HAVE_SQLITE
#include <sqlite3.h>

#include <gram/output.h>
#include <gram/text.h>

#include "base/system/system_call.h"

enum { LONGEST = 64 << 20, STEPS_BETWEEN_LOOKS = 20000, MOST_TABLES = 64 };

struct gram_query {
    gram_memory *memory;
    gram_context *context; /* of the call that is under way, for the callback that looks for Ctrl-C */
    char *file;
    sqlite3 *database;
    sqlite3_stmt *statement;
    gram_string line; /* the header, or the row that is being handed out, */
    size_t at;        /* up to here */
    int64_t row;
    int ended;
};

/* ---- failures ---- */

/* What is wrong with the query, and what one looks like. */
static gram_status advise(gram_context *context, gram_status status)
{
    if (status == GRAM_ERROR_ARGUMENT)
        return gram_advise(context, status, "A query is one select, such as --query 'select x, y from t where x > 0'.");
    return status;
}

/* The reason that SQLite gives, as ours. */
static gram_status fail(gram_context *context, const gram_query *query, int code)
{
    const char *reason = query->database ? sqlite3_errmsg(query->database) : sqlite3_errstr(code);
    const int refused = strstr(reason, "not authorized") != NULL; /* with other codes, too */
    switch (refused ? SQLITE_AUTH : code & 0xff) {
    case SQLITE_INTERRUPT: return GRAM_ERROR_CANCELLED;
    case SQLITE_NOMEM: return gram_fail(context, GRAM_ERROR_MEMORY, "%s: no memory is left to read it", query->file);
    case SQLITE_READONLY:
    case SQLITE_AUTH:
        return gram_fail(context, GRAM_ERROR_ARGUMENT, "%s: the query may only select rows (%s)", query->file, reason);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
        return gram_fail(context, GRAM_ERROR_DATA, "%s: the database is damaged: %s", query->file, reason);
    case SQLITE_TOOBIG:
        return gram_fail(context, GRAM_ERROR_DATA, "%s: a value has more than 64 MiB, or the query is too long",
                         query->file);
    case SQLITE_ERROR: return gram_fail(context, GRAM_ERROR_ARGUMENT, "%s: the query: %s", query->file, reason);
    default: return gram_fail(context, GRAM_ERROR_FILE, "%s: cannot be read: %s", query->file, reason);
    }
}

#define TRY_SQLITE(call)                                                                                               \
    do {                                                                                                               \
        const int code_ = (call);                                                                                      \
        if (code_ != SQLITE_OK) {                                                                                      \
            status = fail(context, query, code_);                                                                      \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)

/* ---- opening ---- */

/* A regular file that begins as databases do: nothing else is handed to SQLite. */
static gram_status check_file(gram_context *context, const char *file)
{
    static const char START[16] = "SQLite format 3";
    gram_status status = GRAM_OK;
    char reason[GRAM_SYSTEM_REASON_SIZE], bytes[sizeof START];
    struct stat facts;
    const int descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FAIL_IF(descriptor < 0, context, GRAM_ERROR_FILE, "%s: cannot be opened: %s", file,
            gram_system_reason(errno, reason));
    const int regular = fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode);
    FAIL_IF(!regular || read(descriptor, bytes, sizeof bytes) != (ssize_t)sizeof bytes ||
                memcmp(bytes, START, sizeof START) != 0,
            context, GRAM_ERROR_DATA, "%s: this is not a SQLite database", file);
done:
    if (descriptor >= 0) (void)close(descriptor);
    return status;
}

/* What a query may ask for. */
static int authorise(void *user, int action, const char *first, const char *second, const char *database,
                     const char *trigger)
{
    (void)user, (void)first, (void)database, (void)trigger;
    if (action == SQLITE_FUNCTION && second && sqlite3_stricmp(second, "load_extension") == 0) return SQLITE_DENY;
    return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE
               ? SQLITE_OK
               : SQLITE_DENY;
}

/* Called now and then while SQLite works; not 0: it stops. */
static int look_up(void *user)
{
    const gram_query *query = user;
    return query->context && gram_pulse(query->context, "reading", 0) < 0;
}

/* The file may come from a stranger. The transaction keeps what is read the same when it is read again. */
static gram_status harden(gram_context *context, gram_query *query)
{
    gram_status status = GRAM_OK;
    sqlite3 *database = query->database;
    (void)sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    (void)sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    (void)sqlite3_limit(database, SQLITE_LIMIT_LENGTH, LONGEST);
    (void)sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    (void)sqlite3_limit(database, SQLITE_LIMIT_WORKER_THREADS, 0);
    (void)sqlite3_busy_timeout(database, 1000);
    sqlite3_progress_handler(database, STEPS_BETWEEN_LOOKS, look_up, query);
    TRY_SQLITE(sqlite3_exec(database, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; BEGIN", NULL, NULL, NULL));
    TRY_SQLITE(sqlite3_set_authorizer(database, authorise, NULL));
done:
    return status;
}

/* Names like "file:x" mean something else to some builds of SQLite. */
static gram_status open_database(gram_context *context, gram_query *query)
{
    gram_status status = GRAM_OK;
    gram_string path = {0};
    gram_string_add(&path, "%s%s", query->file[0] == '/' ? "" : "./", query->file);
    FAIL_IF(path.failed, context, GRAM_ERROR_MEMORY, "%s: no memory is left to read it", query->file);
    TRY_SQLITE(sqlite3_open_v2(path.data, &query->database, SQLITE_OPEN_READONLY, NULL));
    TRY(harden(context, query));
done:
    gram_string_free(&path);
    return status;
}

/* ---- the query ---- */

/* Tables and views, with commas between; returns how many there are, and the first in `only`. */
static int64_t list_tables(gram_query *query, gram_string *list, gram_string *only)
{
    static const char SQL[] =
        "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\' "
        "order by name";
    sqlite3_stmt *statement = NULL;
    int64_t count = 0;
    if (sqlite3_prepare_v2(query->database, SQL, -1, &statement, NULL) != SQLITE_OK) return 0;
    while (sqlite3_step(statement) == SQLITE_ROW && count < MOST_TABLES) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        if (name && count == 0) gram_string_add(only, "%s", name);
        if (name && list->length < 400) gram_string_add(list, "%s%s", count > 0 ? ", " : "", name);
        count++;
    }
    (void)sqlite3_finalize(statement);
    return count;
}

/* Without a query: all of the only table. */
static gram_status choose_table(gram_context *context, gram_query *query, gram_string *sql)
{
    gram_status status = GRAM_OK;
    gram_string list = {0}, only = {0};
    const int64_t count = list_tables(query, &list, &only);
    FAIL_IF(count == 0, context, GRAM_ERROR_DATA, "%s: the database has no tables", query->file);
    FAIL_IF(count > 1, context, GRAM_ERROR_ARGUMENT,
            "%s: which rows? There are several tables; give a query, such as 'select * from %s' (tables: %s)",
            query->file, only.data ? only.data : "", list.data ? list.data : "");
    gram_string_add(sql, "select * from \"");
    for (const char *c = only.data; c && *c; c++) gram_string_put(sql, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    gram_string_add(sql, "\"");
done:
    gram_string_free(&list);
    gram_string_free(&only);
    return status;
}

static gram_status prepare(gram_context *context, gram_query *query, const char *sql)
{
    gram_status status = GRAM_OK;
    const char *rest = NULL;
    const int code = sqlite3_prepare_v2(query->database, sql, -1, &query->statement, &rest);
    if (code != SQLITE_OK && strstr(sqlite3_errmsg(query->database), "no such table")) {
        gram_string list = {0}, only = {0};
        status = fail(context, query, code);
        const char *reason = strstr(gram_context_message(context), "no such table");
        if (reason && list_tables(query, &list, &only) > 0 && !list.failed) {
            char told[160];
            (void)snprintf(told, sizeof told, "%s", reason);
            status = gram_fail(context, GRAM_ERROR_ARGUMENT, "%s: the query: %s; there are %s", query->file, told,
                               list.data);
        }
        gram_string_free(&list);
        gram_string_free(&only);
        goto done;
    }
    TRY_SQLITE(code);
    while (rest && *rest && strchr(" \t\r\n;", *rest)) rest++;
    FAIL_IF(!query->statement || sqlite3_column_count(query->statement) < 1 || !sqlite3_stmt_readonly(query->statement),
            context, GRAM_ERROR_ARGUMENT, "%s: the query selects no rows", query->file);
    FAIL_IF(rest && *rest, context, GRAM_ERROR_ARGUMENT, "%s: the query is more than one statement", query->file);
done:
    return status;
}

gram_status gram_query_open(gram_context *context, const char *file, const char *sql, gram_query **query_)
{
    gram_status status = GRAM_OK;
    gram_query *query = NULL;
    gram_string chosen = {0};
    const size_t length = strlen(file) + 1;
    *query_ = NULL;
    TRY(check_file(context, file));
    TRY(gram_take(context, "reading", 1, sizeof *query, (void **)&query));
    *query = (gram_query){.memory = gram_memory_retain(context->memory), .context = context};
    TRY(gram_take(context, "reading", (int64_t)length, 1, (void **)&query->file));
    memcpy(query->file, file, length);
    TRY(open_database(context, query));
    if (!sql) TRY(choose_table(context, query, &chosen));
    FAIL_IF(chosen.failed, context, GRAM_ERROR_MEMORY, "%s: no memory is left to read it", file);
    TRY(prepare(context, query, sql ? sql : chosen.data));
    TRY(gram_query_rewind(context, query));
    query->context = NULL;
    *query_ = query;
    query = NULL;
done:
    gram_string_free(&chosen);
    gram_query_close(query);
    return advise(context, status);
}

void gram_query_close(gram_query *query)
{
    if (!query) return;
    gram_memory *memory = query->memory;
    (void)sqlite3_finalize(query->statement);
    (void)sqlite3_close(query->database);
    gram_string_free(&query->line);
    if (query->file) gram_memory_give(memory, query->file);
    gram_memory_give(memory, query);
    gram_memory_release(memory);
}

/* ---- rows as text ---- */

static void put_text(gram_string *line, const char *text, size_t length)
{
    gram_string_add(line, "\"");
    while (length > 0) {
        const char *quote = memchr(text, '"', length);
        const size_t plain = quote ? (size_t)(quote - text) + 1 : length;
        gram_string_put(line, text, plain);
        if (quote) gram_string_add(line, "\"");
        text += plain;
        length -= plain;
    }
    gram_string_add(line, "\"");
}

static gram_status put_value(gram_context *context, gram_query *query, int column)
{
    gram_status status = GRAM_OK;
    char number[GRAM_NUMBER_SIZE];
    sqlite3_stmt *row = query->statement;
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL: gram_string_add(&query->line, "NA"); break;
    case SQLITE_INTEGER: gram_string_add(&query->line, "%" PRId64, (int64_t)sqlite3_column_int64(row, column)); break;
    case SQLITE_FLOAT:
        gram_string_add(&query->line, "%s", gram_number_format(sqlite3_column_double(row, column), number));
        break;
    case SQLITE_TEXT: {
        const char *text = (const char *)sqlite3_column_text(row, column);
        FAIL_IF(!text, context, GRAM_ERROR_MEMORY, "%s: no memory is left to read it", query->file);
        put_text(&query->line, text, (size_t)sqlite3_column_bytes(row, column));
        break;
    }
    default:
        FAIL(context, GRAM_ERROR_DATA, "%s: row %" PRId64 ": column '%s': a BLOB; numbers, texts and NULL are read",
             query->file, query->row, sqlite3_column_name(row, column));
    }
done:
    return status;
}

static void clear_line(gram_query *query)
{
    query->line.length = 0;
    query->at = 0;
}

static void put_header(gram_query *query)
{
    const int columns = sqlite3_column_count(query->statement);
    clear_line(query);
    for (int c = 0; c < columns; c++) {
        const char *name = sqlite3_column_name(query->statement, c);
        put_text(&query->line, name ? name : "", name ? strlen(name) : 0);
        gram_string_add(&query->line, c + 1 < columns ? "\t" : "\n");
    }
}

static gram_status next_row(gram_context *context, gram_query *query)
{
    gram_status status = GRAM_OK;
    const int columns = sqlite3_column_count(query->statement), code = sqlite3_step(query->statement);
    clear_line(query);
    if (code == SQLITE_DONE) {
        query->ended = 1;
        return status;
    }
    if (code != SQLITE_ROW) return fail(context, query, code);
    query->row++;
    for (int c = 0; c < columns; c++) {
        TRY(put_value(context, query, c));
        gram_string_add(&query->line, c + 1 < columns ? "\t" : "\n");
    }
    FAIL_IF(query->line.failed, context, GRAM_ERROR_MEMORY, "%s: no memory is left to read it", query->file);
done:
    return status;
}

gram_status gram_query_rewind(gram_context *context, gram_query *query)
{
    gram_status status = GRAM_OK;
    (void)sqlite3_reset(query->statement);
    query->row = 0;
    query->ended = 0;
    put_header(query);
    FAIL_IF(query->line.failed, context, GRAM_ERROR_MEMORY, "%s: no memory is left to read it", query->file);
done:
    return status;
}

gram_status gram_query_read(gram_context *context, gram_query *query, char *buffer, size_t size, size_t *got)
{
    gram_status status = GRAM_OK;
    *got = 0;
    query->context = context;
    while (*got < size && !query->ended) {
        const size_t left = query->line.length - query->at, count = left < size - *got ? left : size - *got;
        if (count > 0) memcpy(buffer + *got, query->line.data + query->at, count);
        *got += count;
        query->at += count;
        if (query->at == query->line.length) TRY(next_row(context, query));
    }
done:
    query->context = NULL;
    return status;
}

#else

gram_status gram_query_open(gram_context *context, const char *file, const char *sql, gram_query **query)
{
    (void)sql;
    *query = NULL;
    return gram_fail(
        context, GRAM_ERROR_UNSUPPORTED,
        "%s: this gram was built without SQLite; install libsqlite3-dev and build it again, or write the rows as CSV",
        file);
}

void gram_query_close(gram_query *query)
{
    (void)query;
}

gram_status gram_query_read(gram_context *context, gram_query *query, char *buffer, size_t size, size_t *got)
{
    (void)context, (void)query, (void)buffer, (void)size;
    *got = 0;
    return GRAM_ERROR_INTERNAL;
}

gram_status gram_query_rewind(gram_context *context, gram_query *query)
{
    (void)context, (void)query;
    return GRAM_ERROR_INTERNAL;
}

#endif
