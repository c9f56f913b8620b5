# examples/co2.sh: runs to its end, and the forecast is near what came (372.4 ppm in January 2002).
. "$SOURCE/tests/cli/helper"

sh "$SOURCE/examples/co2.sh" . >said 2>err || {
    cat said err
    exit 1
}
grep -q '^January 2002: 37[123]\.' said
[ "$(head -n 1 forecast.csv)" = mean,std,lower,upper,term_1,term_1_std,term_2,term_2_std,term_3,term_3_std ]
[ "$(wc -l <forecast.csv)" = 758 ]
