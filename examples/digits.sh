#!/bin/sh
# Handwritten digits across resolutions: images of 4 x 4 pixels are recognised among images of 8 x 8. The coupled embedding learns one
# space for both, from pairs; beside it, the small image is enlarged and compared pixel by pixel.
#
#     examples/digits.sh [FOLDER]        needs gram in the PATH (or in $GRAM) and awk; writes to FOLDER, . by default
#
# Learnt from every other image, tried on the rest: an image is right if the nearest of the large images that were learnt from is of
# the same digit. `IMAGES=600 examples/digits.sh` is quick: it takes the first 600 of the 1,797.
set -eu
gram=${GRAM:-gram}
data=$(cd "$(dirname "$0")" && pwd)/digits.csv
cd "${1:-.}"

# large: 64 pixels and the digit; small: means of 2 x 2 pixels, and the digit
for part in train test; do
    LC_ALL=C awk -F, -v part="$part" -v most="${IMAGES:-1797}" \
        'NR == 1 || (NR <= most + 1 && (NR % 2 == 0) == (part == "train"))' "$data" >"large_$part.csv"
    LC_ALL=C awk -F, 'NR == 1 { for (i = 0; i < 16; i++) printf "p%d,", i; print $65; next }
        { for (r = 0; r < 4; r++) for (c = 0; c < 4; c++) { at = 16 * r + 2 * c + 1
            printf "%s,", ($at + $(at + 1) + $(at + 8) + $(at + 9)) / 4 }; print $65 }' "large_$part.csv" >"small_$part.csv"
done

if command -v gnuplot >/dev/null 2>&1; then set -- --plot digits.svg; else set --; fi
"$gram" couple small_train.csv large_train.csv --label y --no-scale -k 10 -o digits.gram "$@"
"$gram" predict digits.gram small_test.csv --view a -o probes.csv
"$gram" predict digits.gram large_train.csv --view b -o gallery.csv

# recognised PROBES GALLERY: the share of rows whose nearest row of the other file has their digit, the last column
recognised()
{
    LC_ALL=C awk -F, 'FNR == 1 { file++; next }
        file == 1 { n++; for (l = 1; l < NF; l++) g[n, l] = $l; class[n] = $NF; next }
        { best = 1e300; for (j = 1; j <= n; j++) { d = 0; for (l = 1; l < NF && d < best; l++) d += ($l - g[j, l])^2
            if (d < best) { best = d; found = class[j] } }
          right += found == $NF; all++ }
        END { printf "%.4f\n", right / all }' "$2" "$1"
}

cut -d, -f17 small_test.csv | paste -d, probes.csv - >labelled_probes.csv
cut -d, -f65 large_train.csv | paste -d, gallery.csv - >labelled_gallery.csv
# the small image enlarged: each pixel four times
LC_ALL=C awk -F, 'NR == 1 { for (i = 0; i < 64; i++) printf "p%d,", i; print $17; next }
    { for (r = 0; r < 8; r++) for (c = 0; c < 8; c++) printf "%s,", $(4 * int(r / 2) + int(c / 2) + 1); print $17 }' \
    small_test.csv >enlarged_test.csv

echo
echo "Digits of 4 x 4 pixels recognised among those of 8 x 8:"
echo "  enlarged, by pixels       $(recognised enlarged_test.csv large_train.csv)"
echo "  by the coupled embedding  $(recognised labelled_probes.csv labelled_gallery.csv)"
