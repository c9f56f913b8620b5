/* Pages of HTML in one file: no script, nothing that is loaded from elsewhere, readable in light and dark.
 *
 * Parts are added to a text one after the other, between gram_page_begin and gram_page_end; every text is escaped, so that names of columns and
 * files are never markup. The caller writes the text where it likes; text.failed says whether memory was short. */
#ifndef GRAM_PAGE_H
#define GRAM_PAGE_H

#include <gram/describe.h>
#include <gram/explain.h>
#include <gram/score.h>

GRAM_BEGIN

GRAM_API void gram_page_begin(gram_string *page, const char *title);
GRAM_API void gram_page_end(gram_string *page);

/* Text as it is, without markup. */
GRAM_API void gram_page_escape(gram_string *page, const char *text);
GRAM_API void gram_page_heading(gram_string *page, const char *text);
GRAM_API void gram_page_paragraph(gram_string *page, const char *text);
/* What is typed at a shell. */
GRAM_API void gram_page_command(gram_string *page, const char *text);

/* A table: begin with the names of its columns (NULL: none), then cells row by row. */
GRAM_API void gram_page_table(gram_string *page, int64_t columns, const char *const *names);
GRAM_API void gram_page_row(gram_string *page, int64_t columns, const char *const *cells);
GRAM_API void gram_page_table_end(gram_string *page);

/* A picture as gnuplot's terminal svg writes it, and the words below it. Identifiers within it get `number`, which no other picture of the page has.
 * Returns 0, and adds nothing, if it is no whole SVG or could load or run anything. */
GRAM_API int gram_page_picture(gram_string *page, int number, const char *svg, size_t length, const char *words);

/* What is known of a model: its rows, and the importance of features that its fit found. */
GRAM_API void gram_page_model(gram_string *page, const gram_description *description);
/* How predictions of rows compare with what was observed; nothing without targets. */
GRAM_API gram_status gram_page_scores(gram_context *context, gram_string *page, const gram_columns *columns,
                                      const gram_score *score);
/* Importance and terms as tables. */
GRAM_API void gram_page_explanation(gram_string *page, const gram_explanation *explanation);

GRAM_END

#endif
