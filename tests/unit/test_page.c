/* Pages: what is escaped, what pictures are refused, and that identifiers of two pictures differ. */
#include <string.h>

#include "support.h"

static const char SVG[] =
    "<?xml version=\"1.0\"?>\n<!DOCTYPE svg>\n<svg viewBox=\"0 0 1 1\"><defs><circle id='gpDot' r='0.5'/></defs>"
    "<use xlink:href='#gpDot'/><path clip-path='url(#gpDot)'/></svg>\n\n";

static void test_escape(void **state)
{
    gram_string page = {0};
    (void)state;
    gram_page_begin(&page, "<title> & \"more\"");
    gram_page_heading(&page, "a<script>alert('x')</script>");
    gram_page_table(&page, 2, (const char *[]){"<b>", "b"});
    gram_page_row(&page, 2, (const char *[]){"1\x01", "2 & 3"});
    gram_page_table_end(&page);
    gram_page_command(&page, "gram fit 'a<b.csv'");
    gram_page_end(&page);
    assert_false(page.failed);
    assert_null(strstr(page.data, "<script"));
    assert_null(strstr(page.data, "<b>"));
    assert_null(strchr(page.data, 1));
    assert_non_null(strstr(page.data, "<title>&lt;title&gt; &amp; &quot;more&quot;</title>"));
    assert_non_null(strstr(page.data, "a&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"));
    assert_non_null(strstr(page.data, "<td>1?</td><td>2 &amp; 3</td>"));
    assert_null(strstr(page.data, "http://"));
    gram_string_free(&page);
}

static void test_pictures(void **state)
{
    gram_string page = {0};
    (void)state;
    assert_true(gram_page_picture(&page, 1, SVG, sizeof SVG - 1, "first <one>"));
    assert_true(gram_page_picture(&page, 2, SVG, sizeof SVG - 1, "second"));
    assert_null(strstr(page.data, "<?xml"));
    assert_null(strstr(page.data, "DOCTYPE"));
    assert_non_null(strstr(page.data, "id='p1-gpDot'"));
    assert_non_null(strstr(page.data, "href='#p2-gpDot'"));
    assert_non_null(strstr(page.data, "url(#p2-gpDot)"));
    assert_non_null(strstr(page.data, "first &lt;one&gt;"));
    gram_string_free(&page);
}

static void test_unfit(void **state)
{
    static const char *const bad[] = {"",
                                      "no picture",
                                      "<svg",
                                      "<svg>",
                                      "<svg><script>x()</script></svg>",
                                      "<svg><SCRIPT src='x'/></svg>",
                                      "<svg><image href='http://x/y.png'/></svg>",
                                      "<svg><a href='javascript:x()'/></svg>",
                                      "<svg></svg></body>"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gram_string page = {0};
        assert_false(gram_page_picture(&page, 1, bad[i], strlen(bad[i]), "words"));
        assert_int_equal(page.length, 0);
        gram_string_free(&page);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_escape), cmocka_unit_test(test_pictures),
                                       cmocka_unit_test(test_unfit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
