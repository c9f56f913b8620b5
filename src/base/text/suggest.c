#include <gram/text.h>

#include <string.h>

enum { MAX_LENGTH = 63, MAX_EDITS = 2 };

/* ASCII only: tolower follows the locale. */
static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Damerau's distance with non-overlapping swaps, regardless of case: row i of the table of distances between the first
 * i letters of a and the first j of b, of which three rows are kept. */
static int distance(const char *a, int a_length, const char *b, int b_length)
{
    int rows[3][MAX_LENGTH + 1];
    for (int j = 0; j <= b_length; j++) rows[0][j] = j;
    for (int i = 1; i <= a_length; i++) {
        int *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= b_length; j++) {
            const int same = lower(a[i - 1]) == lower(b[j - 1]);
            now[j] = smaller(smaller(last[j], now[j - 1]) + 1, last[j - 1] + !same);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
                now[j] = smaller(now[j], before[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

static int begins_with(const char *text, const char *start)
{
    while (*start && lower(*text) == lower(*start)) text++, start++;
    return *start == '\0';
}

static const char *find_near(const char *word, const char *const *candidates, size_t count)
{
    const size_t length = strlen(word);
    if (length == 0 || length > MAX_LENGTH) return NULL;
    const char *nearest = NULL, *longer = NULL;
    int least = smaller(MAX_EDITS, (int)length - 1) + 1;
    for (size_t i = 0; i < count; i++) {
        const size_t candidate_length = strlen(candidates[i]);
        if (candidate_length > MAX_LENGTH) continue;
        if (!longer && length > 1 && begins_with(candidates[i], word)) longer = candidates[i];
        const int edits = distance(word, (int)length, candidates[i], (int)candidate_length);
        if (edits >= least) continue;
        least = edits;
        nearest = candidates[i];
    }
    return longer && least > 1 ? longer : nearest;
}

const char *gram_suggest(const char *word, const char *const *candidates, size_t count)
{
    char before[MAX_LENGTH + 1];
    const size_t length = strcspn(word, ":");
    const char *near = find_near(word, candidates, count);
    if (near || word[length] == '\0' || length > MAX_LENGTH) return near;
    memcpy(before, word, length);
    before[length] = '\0';
    return find_near(before, candidates, count);
}

const char *gram_suggest_word(const char *word, const char *words, char found[GRAM_WORD_SIZE])
{
    enum { MOST = 32 };
    char room[MOST][GRAM_WORD_SIZE];
    const char *names[MOST];
    size_t count = 0;
    while (*words && count < MOST) {
        words += strspn(words, " ");
        const size_t length = strcspn(words, " ");
        if (length > 0 && length < GRAM_WORD_SIZE) {
            memcpy(room[count], words, length);
            room[count][length] = '\0';
            names[count] = room[count];
            count++;
        }
        words += length;
    }
    const char *near = gram_suggest(word, names, count);
    return near ? strcpy(found, near) : NULL;
}
