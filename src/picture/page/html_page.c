/* The parts of a page. The look is a few lines of CSS in the page itself; pictures are inverted for dark pages, since gnuplot draws them for white ones. */
#include <string.h>

#include <gram/page.h>

static const char HEAD[] =
    "<style>\n"
    ":root{color-scheme:light dark;--ink:#1a1a1a;--paper:#fff;--quiet:#666;--line:#ddd;--field:#f4f4f4;--bar:#0060ad}\n"
    "@media "
    "(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--paper:#161616;--quiet:#9a9a9a;--line:#383838;--field:#222;"
    "--bar:#6cb2eb}figure svg{filter:invert(0.92) hue-rotate(180deg)}}\n"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:60rem;margin:2rem auto;"
    "padding:0 1rem}\n"
    "h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2rem;border-bottom:1px solid var(--line)}\n"
    "table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}\n"
    "td,th{padding:.2rem 1rem .2rem 0;text-align:left;vertical-align:top;overflow-wrap:anywhere}th{color:var(--quiet);"
    "font-weight:600}\n"
    "tr{border-bottom:1px solid var(--line)}td:first-child{white-space:pre-wrap}\n"
    "pre{background:var(--field);padding:.8rem;overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere}\n"
    "figure{margin:1rem 0}figure svg{max-width:100%;height:auto}figcaption{color:var(--quiet)}\n"
    "</style>\n";

void gram_page_escape(gram_string *page, const char *text)
{
    for (const char *at = text; *at; at++) {
        const unsigned char c = (unsigned char)*at;
        if (c == '<')
            gram_string_add(page, "&lt;");
        else if (c == '>')
            gram_string_add(page, "&gt;");
        else if (c == '&')
            gram_string_add(page, "&amp;");
        else if (c == '"')
            gram_string_add(page, "&quot;");
        else if (c == '\'')
            gram_string_add(page, "&#39;");
        else if ((c < ' ' && c != '\n' && c != '\t') || c == 127)
            gram_string_add(page, "?"); /* no page may hold these */
        else
            gram_string_put(page, at, 1);
    }
}

static void add_within(gram_string *page, const char *before, const char *text, const char *after)
{
    gram_string_add(page, "%s", before);
    gram_page_escape(page, text);
    gram_string_add(page, "%s", after);
}

void gram_page_begin(gram_string *page, const char *title)
{
    gram_string_add(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                          "<link rel=\"icon\" href=\"data:,\">\n");
    add_within(page, "<title>", title, "</title>\n");
    gram_string_put(page, HEAD, sizeof HEAD - 1);
    add_within(page, "</head>\n<body>\n<h1>", title, "</h1>\n");
}

void gram_page_end(gram_string *page)
{
    gram_string_add(page, "</body>\n</html>\n");
}

void gram_page_heading(gram_string *page, const char *text)
{
    add_within(page, "<h2>", text, "</h2>\n");
}

void gram_page_paragraph(gram_string *page, const char *text)
{
    add_within(page, "<p>", text, "</p>\n");
}

void gram_page_command(gram_string *page, const char *text)
{
    add_within(page, "<pre>", text, "</pre>\n");
}

static void add_cells(gram_string *page, int64_t columns, const char *const *cells, const char *kind)
{
    gram_string_add(page, "<tr>");
    for (int64_t j = 0; j < columns; j++) {
        gram_string_add(page, "<%s>", kind);
        gram_page_escape(page, cells[j]);
        gram_string_add(page, "</%s>", kind);
    }
    gram_string_add(page, "</tr>\n");
}

void gram_page_table(gram_string *page, int64_t columns, const char *const *names)
{
    gram_string_add(page, "<table>\n");
    if (names) add_cells(page, columns, names, "th");
}

void gram_page_row(gram_string *page, int64_t columns, const char *const *cells)
{
    add_cells(page, columns, cells, "td");
}

void gram_page_table_end(gram_string *page)
{
    gram_string_add(page, "</table>\n");
}

/* ---- pictures ---- */

/* What a picture must not hold, in small letters: it would load or run something, or break out of the picture. */
static const char *const REFUSED[] = {"<script", "<foreignobject", "<iframe", "<image",
                                      "<style",  "javascript:",    "</body"};

static int has_text(const char *svg, size_t length, const char *text)
{
    const size_t size = strlen(text);
    for (size_t i = 0; i + size <= length; i++) {
        size_t k = 0;
        while (k < size && (svg[i + k] | (svg[i + k] >= 'A' && svg[i + k] <= 'Z' ? 32 : 0)) == text[k]) k++;
        if (k == size) return 1;
    }
    return 0;
}

/* Does the text from `at` on begin with it? */
static int begins(const char *at, const char *end, const char *text)
{
    return (size_t)(end - at) >= strlen(text) && strncmp(at, text, strlen(text)) == 0;
}

/* Identifiers and what refers to them, so that pictures of one page do not mix. */
static const char *const MARKS[] = {" id=\"", " id='", "href=\"#", "href='#", "url(#"};

static void add_svg(gram_string *page, int number, const char *from, const char *end)
{
    while (from < end) {
        size_t taken = 1;
        int marked = 0;
        for (size_t m = 0; m < sizeof MARKS / sizeof *MARKS && !marked; m++)
            if (begins(from, end, MARKS[m])) taken = strlen(MARKS[m]), marked = 1;
        gram_string_put(page, from, taken);
        if (marked) gram_string_add(page, "p%d-", number);
        from += taken;
    }
}

int gram_page_picture(gram_string *page, int number, const char *svg, size_t length, const char *words)
{
    const char *end = svg + length, *from = svg;
    while (from < end && !begins(from, end, "<svg")) from++; /* what is before it is for a file of its own */
    while (end > from && end[-1] != '>') end--;
    if (from == end || (size_t)(end - from) < 6 || strncmp(end - 6, "</svg>", 6) != 0) return 0;
    for (size_t k = 0; k < sizeof REFUSED / sizeof *REFUSED; k++)
        if (has_text(from, (size_t)(end - from), REFUSED[k])) return 0;
    gram_string_add(page, "<figure>\n");
    add_svg(page, number, from, end);
    add_within(page, "\n<figcaption>", words, "</figcaption>\n</figure>\n");
    return 1;
}
