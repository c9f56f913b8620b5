#include "cli/terminal/learner_begin.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/report/report_rows.h"

/* The line on standard error before the work. */
static void say_plan(void *user, const gram_learn_plan *plan)
{
    cli_session *session = user;
    char rows[CLI_SHORT_SIZE], size[GRAM_BYTES_SIZE], time[CLI_SHORT_SIZE] = "under 0.1";
    if (session->common->quiet) return;
    cli_session_clear(session);
    if (plan->seconds >= 0.1) (void)snprintf(time, sizeof time, "%.2g", plan->seconds);
    (void)fprintf(stderr, "plan: %s row%s, %" PRId64 " column%s; %s, about %s and %s s%s (%s)\n",
                  gram_count_format(plan->n, rows), cli_plural(plan->n), plan->d, cli_plural(plan->d), plan->words,
                  gram_bytes_format(plan->bytes, size), time,
                  plan->tunes ? plan->tuning_seconds > 0 ? " with tuning" : " after tuning" : "", plan->reason);
}

static gram_status set_options(cli_session *session, const cli_settings *settings, gram_learner *learner)
{
    gram_status status = GRAM_OK;
    for (size_t i = 0; i < settings->count && status >= 0; i++)
        status = gram_learner_set(session->context, learner, settings->given[i].name, settings->given[i].value);
    return status;
}

/* Estimates of time are this machine's where they are told or used; its speed is kept among the user's caches. */
static void use_speed(cli_session *session)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char path[1024];
    if (session->common->quiet && !(session->common->time > 0)) return;
    const int given = cache && cache[0] == '/';
    if (!given && (!home || home[0] != '/')) return;
    (void)snprintf(path, sizeof path, "%s%s/gram", given ? cache : home, given ? "" : "/.cache");
    (void)mkdir(path, 0700);
    (void)snprintf(path, sizeof path, "%s%s/gram/speed", given ? cache : home, given ? "" : "/.cache");
    (void)gram_context_use_speed(session->context, path);
}

int cli_learner_begin(cli_session *session, const char *verb, const cli_settings *const *settings, size_t count,
                      int check, gram_learner **learner)
{
    use_speed(session);
    gram_status status = gram_learner_create(session->context, learner);
    if (status >= 0) status = gram_learner_speak(session->context, *learner, verb, "--");
    if (status >= 0 && check && strcmp(verb, "fit") == 0) { /* a report leads with it; programs ask for it */
        const char *usual = getenv("GRAM_ESTIMATE");
        status = gram_learner_set(session->context, *learner, "estimate", usual ? usual : "auto");
    }
    for (size_t i = 0; i < count && status >= 0; i++) status = set_options(session, settings[i], *learner);
    if (status >= 0 && check) status = gram_learner_check(session->context, *learner);
    if (status < 0) return cli_session_fail(session, status, 0, NULL);
    gram_learner_on_plan(*learner, say_plan, session);
    return CLI_DONE;
}
