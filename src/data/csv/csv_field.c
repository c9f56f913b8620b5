#include "data/csv/csv_field.h"

#include <math.h>
#include <string.h>

#include "base/text/number.h"

/* ASCII only: strncasecmp follows the locale. */
static int is_word(const char *text, size_t length, const char *word)
{
    if (strlen(word) != length) return 0;
    for (size_t i = 0; i < length; i++)
        if ((text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]) != word[i]) return 0;
    return 1;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- numbers ---- */

enum { LONGEST_NUMBER = 400 };

/* 1,5e3: read with a point in the place of its comma. What has a point already is no number here. */
static int read_comma(const char *text, size_t length, double *value)
{
    char copy[LONGEST_NUMBER];
    const char *comma = memchr(text, ',', length);
    if (length > sizeof copy || memchr(text, '.', length)) return 0;
    memcpy(copy, text, length);
    if (comma) copy[comma - text] = '.';
    return gram_number_read(copy, length, value) == length;
}

static int read_number(const gram_field_rules *rules, const char *text, size_t length, double *value)
{
    if (length == 0) return 0;
    return rules->comma ? read_comma(text, length, value) : gram_number_read(text, length, value) == length;
}

int gram_field_is_grouped(const gram_csv_field *field)
{
    const char *text = field->text;
    size_t length = field->length, separators = 0;
    if (length > 0 && (text[0] == '-' || text[0] == '+')) text++, length--;
    if (length == 0 || !is_digit(text[0])) return 0;
    for (size_t i = 1; i < length; i++) {
        if (is_digit(text[i])) continue;
        if ((text[i] != ',' && text[i] != '\'' && text[i] != '.') || !is_digit(text[i - 1])) return 0;
        separators += text[i] != '.';
    }
    return separators > 0 && is_digit(text[length - 1]);
}

int gram_field_has_comma(const gram_csv_field *field, int *thousands)
{
    const char *text = field->text, *comma = memchr(text, ',', field->length);
    const char *end = text + field->length;
    if (!comma || !gram_field_is_grouped(field) || memchr(comma + 1, ',', (size_t)(end - comma - 1)) ||
        memchr(text, '.', field->length) || memchr(text, '\'', field->length))
        return 0;
    const char *first = is_digit(text[0]) ? text : text + 1;
    *thousands = end - comma == 4 && comma - first <= 3 && first[0] != '0';
    return 1;
}

/* ---- dates ---- */

/* `count` digits at *at as a number, -1 if they are not there; *at moves on. */
static int take_digits(const char *text, size_t length, size_t *at, int count)
{
    int number = 0;
    for (int i = 0; i < count; i++, ++*at) {
        if (*at >= length || !is_digit(text[*at])) return -1;
        number = 10 * number + (text[*at] - '0');
    }
    return number;
}

static int take(const char *text, size_t length, size_t *at, char c)
{
    if (*at >= length || text[*at] != c) return 0;
    ++*at;
    return 1;
}

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* Days from 1970-01-01, in years that begin with March: then a leap day is the last of its year, and 153 days make five
 * months. */
static int days_since_1970(int year, int month, int day)
{
    const int from_march = (month + 9) % 12, y = year - (month < 3);
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * from_march + 2) / 5 + day - 1 - 719468;
}

static int take_day(const char *text, size_t length, size_t *at, double *days)
{
    const int year = take_digits(text, length, at, 4);
    const char between = *at < length && text[*at] == '/' ? '/' : '-';
    if (year < 1 || !take(text, length, at, between)) return 0;
    const int month = take_digits(text, length, at, 2);
    if (month < 1 || month > 12 || !take(text, length, at, between)) return 0;
    const int day = take_digits(text, length, at, 2);
    if (day < 1 || day > days_in_month(year, month)) return 0;
    *days = days_since_1970(year, month, day);
    return 1;
}

/* hh:mm, hh:mm:ss or hh:mm:ss.sss as a part of a day. */
static int take_time(const char *text, size_t length, size_t *at, double *days)
{
    const int hour = take_digits(text, length, at, 2);
    if (hour < 0 || hour > 24 || !take(text, length, at, ':')) return 0;
    const int minute = take_digits(text, length, at, 2);
    if (minute < 0 || minute > 59) return 0;
    double seconds = 0;
    if (take(text, length, at, ':')) {
        seconds = take_digits(text, length, at, 2);
        if (seconds < 0 || seconds > 60) return 0;
        double unit = 1;
        if (take(text, length, at, '.'))
            for (; *at < length && is_digit(text[*at]); ++*at) seconds += (unit /= 10) * (text[*at] - '0');
    }
    *days += (3600.0 * hour + 60.0 * minute + seconds) / 86400;
    return 1;
}

/* Nothing, Z, or how far the clocks are ahead: +02:00, +0200, +02. */
static int take_zone(const char *text, size_t length, size_t *at, double *days)
{
    if (*at == length || take(text, length, at, 'Z')) return *at == length;
    const double sign = text[*at] == '+' ? -1 : 1;
    if (!take(text, length, at, '+') && !take(text, length, at, '-')) return 0;
    const int hours = take_digits(text, length, at, 2);
    int minutes = 0;
    if (hours < 0 || hours > 14) return 0;
    if (*at < length) {
        (void)take(text, length, at, ':');
        minutes = take_digits(text, length, at, 2);
    }
    *days += sign * (60.0 * hours + minutes) / 1440;
    return minutes >= 0 && minutes < 60 && *at == length;
}

static int read_date(const char *text, size_t length, double *days)
{
    size_t at = 0;
    if (length < 10 || !take_day(text, length, &at, days)) return 0;
    if (at == length) return 1;
    if (!take(text, length, &at, 'T') && !take(text, length, &at, ' ')) return 0;
    return take_time(text, length, &at, days) && take_zone(text, length, &at, days);
}

/* ---- what it is ---- */

/* Is it one of the list's texts, letter for letter? */
static int is_listed(const char *list, const char *text, size_t length)
{
    for (const char *item = list; item; item = strchr(item, ',') ? strchr(item, ',') + 1 : NULL)
        if (strcspn(item, ",") == length && memcmp(item, text, length) == 0) return 1;
    return 0;
}

static int is_missing(const char *text, size_t length)
{
    return length == 0 || is_word(text, length, "na") || is_word(text, length, "nan") || is_word(text, length, "null");
}

gram_field_kind gram_field_read(const gram_field_rules *rules, const gram_csv_field *field, double *value)
{
    const char *text = field->text;
    size_t length = field->length;
    *value = NAN;
    if (is_listed(rules->missing, text, length)) return GRAM_FIELD_MISSING;
    if (read_number(rules, text, length, value)) return isfinite(*value) ? GRAM_FIELD_NUMBER : GRAM_FIELD_INFINITE;
    if (read_date(text, length, value)) return GRAM_FIELD_DATE;
    *value = NAN;
    if (is_missing(text, length)) return GRAM_FIELD_MISSING;
    if (length == 1 && (text[0] == '?' || text[0] == '.' || text[0] == '-')) return GRAM_FIELD_MARK;
    const int negative = text[0] == '-';
    if (text[0] == '+' || text[0] == '-') text++, length--;
    if (is_word(text, length, "nan")) return GRAM_FIELD_MISSING;
    if (!is_word(text, length, "inf") && !is_word(text, length, "infinity")) return GRAM_FIELD_TEXT;
    *value = negative ? -INFINITY : INFINITY;
    return GRAM_FIELD_INFINITE;
}
