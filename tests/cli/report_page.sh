# gram report: one page, well formed, that loads and runs nothing, whatever columns are called.
. "$SOURCE/tests/cli/helper"

cat >check.py <<'EOF'
import sys
from html.parser import HTMLParser

class Page(HTMLParser):
    empty = {"meta", "link"}
    def __init__(self):
        super().__init__()
        self.stack, self.tags, self.ids, self.words = [], [], [], []
    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag not in self.empty:
            self.stack.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name.split(":")[-1] in ("src", "href", "action", "data") and value != "data:," and not value.startswith("#"):
                sys.exit(f"loads {value}")
            if name.startswith("on"):
                sys.exit(f"runs {value}")
    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.empty:
            self.stack.pop()
    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag:
            sys.exit(f"</{tag}> without a beginning")
    def handle_data(self, data):
        self.words.append(data)

page = Page()
text = open(sys.argv[1], encoding="utf-8").read()
page.feed(text)
page.close()
if page.stack:
    sys.exit(f"not closed: {page.stack}")
if len(page.ids) != len(set(page.ids)):
    sys.exit("an identifier twice")
if "script" in page.tags or "@import" in text or "url(http" in text:
    sys.exit("it runs or loads something")
if page.tags.count("svg") != int(sys.argv[2]):
    sys.exit(f"{page.tags.count('svg')} pictures")
words = " ".join(page.words)
for wanted in sys.argv[3:]:
    if wanted not in words:
        sys.exit(f"does not say {wanted}")
EOF

# page FILE PICTURES TEXT...
page()
{
    /usr/bin/python3 check.py "$@" >said 2>&1 || wrong "$1: $(cat said)"
}

printf '"a<script>alert(1)</script>","b & ""c""",colour,y\n' >evil.csv
LC_ALL=C awk 'BEGIN { for (i = 0; i < 60; i++) { a = (i * 37) % 60 / 60; b = (i * 17) % 60 / 60; printf "%f,%f,%s,%s\n", a, b, (i % 3 ? "<b>blue" : "red"), ((a + b > 1) ? "<i>yes" : "no") } }' >>evil.csv
GRAM_ESTIMATE=auto "$GRAM" fit evil.csv --method svm --kernel 'rbf(ell=2)' --C 1 --quiet -o evil.gram >out
run report evil.gram evil.csv -o page.html --title 'Yes & <no>' --quiet
good
prints 'page.html' '3 pictures'
page page.html 3 'Yes & <no>' 'gram fit' 'a<script>alert(1)</script>' 'Importance found by the fit' 'Scores on the rows given' 'accuracy' '<i>yes' 'Partial dependence' 'share of derivatives'

"$GRAM" make friedman --n 80 --noise 1 -o data.csv
"$GRAM" fit data.csv --method gp --kernel 'rbf(ell=3)' --noise 1 --quiet -o gp.gram >out
run report gp.gram data.csv -o page.html --json --quiet
good
prints '"page": "page.html"' '"pictures": 3'
page page.html 3 'gp.gram' 'gram fit --method gp' 'root mean squared error' 'rise when permuted' 'x10'

# a model alone
run report gp.gram -o alone.html --quiet
good
page alone.html 0 'Report' 'kernel' 'Made by'
"$GRAM" pca data.csv -k 2 --model pca.gram --quiet >out
run report pca.gram -o alone.html --quiet
good
page alone.html 0 'Report'

# additive splines, whose kernel has no values below 0 though predictions do
LC_ALL=C awk -F, 'BEGIN { OFS = "," } NR > 1 { $1 -= 0.5 } { print $1, $2, $11 }' data.csv >below.csv
"$GRAM" fit below.csv --method spline -o below.gram --quiet >out
run report below.gram below.csv -o below.html --quiet
good
page below.html 3 'below.gram' 'rise when permuted'

# what fails leaves the page as it was
cp page.html before.html
cut -d, -f2-11 data.csv >short.csv
run report gp.gram short.csv -o page.html --quiet
bad 3 "'x1'"
cmp -s page.html before.html || wrong 'should leave the page'
run report gp.gram data.csv
bad 2 '-o'
run report gp.gram - -o page.html
bad 2 'standard input'
run report pca.gram data.csv -o page.html
bad 2 'neither numbers nor classes'
run report gp.gram data.csv -o no/such.html
bad 5 'no/such.html'
