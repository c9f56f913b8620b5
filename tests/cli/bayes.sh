# gram fit --method bayes: Bayesian linear regression with an unknown noise variance, against least squares done by awk.
. "$SOURCE/tests/cli/helper"

# near A B TOLERANCE: two numbers
near() { LC_ALL=C awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { exit !(a - b <= t && b - a <= t) }' || wrong "$1 should be $2"; }
# key NAME: its number in the JSON object of out
key() { sed 's/.*"'"$1"'": \([^,}]*\)[,}].*/\1/' out; }
# field LINE COLUMN: of out
field() { sed -n "$1p" out | cut -d, -f"$2"; }

# Anscombe's first quartet: 3.0001 + 0.5001 x, residual deviation 1.2366 on 9 degrees of freedom
printf 'x,y\n10,8.04\n8,6.95\n13,7.58\n9,8.81\n11,8.33\n14,9.96\n6,7.24\n4,4.26\n12,10.84\n7,4.82\n5,5.68\n' >anscombe.csv
run fit anscombe.csv --method bayes --lambda 0 --no-scale -o a.gram --json --quiet
good
prints '"method": "bayes"' '"freedom": 9,' '"log_marginal_likelihood": null' '"tune": "none"'
near "$(key constant)" 3.0000909090909 1e-12
near "$(LC_ALL=C awk -v a="$(key noise_scale)" -v b="$(key noise_shape)" 'BEGIN { printf "%.15g", sqrt(a / b) }')" 1.236603322726322 1e-12
near "$(sed 's/.*"feature": "x", "mean": \([^,]*\),.*/\1/' out)" 0.500090909090909 1e-12
# the deviation of a t with 9 degrees of freedom is sqrt(9/7) of its scale, the standard error 0.1179055
near "$(sed 's/.*"feature": "x", "mean": [^,]*, "std": \([^,}]*\)}.*/\1/' out)" 0.1336925 1e-6

# the classical prediction interval at x = 9, the mean: 7.5009 +- 2.262157 * 1.236603 * sqrt(1 + 1/11)
printf 'x,y\n9,8\n' >new.csv
printf 'x\n9\n' >at.csv
run predict a.gram new.csv --std --interval 0.95 --json -o p.csv
good
cp p.csv out
[ "$(head -n 1 out)" = mean,std,lower,upper ] || wrong 'should have the columns mean,std,lower,upper'
near "$(field 2 1)" 7.500909090909091 1e-12
near "$(field 2 4)" 10.4226887661 1e-8
near "$(field 2 3)" 4.5791294157 1e-8
near "$(field 2 2)" 1.4645254539 1e-9
run predict a.gram at.csv --interval 0.95 --latent
good
near "$(field 2 2)" 6.6574639498 1e-8
near "$(field 2 3)" 8.3443542319 1e-8

# the score is minus the log density of that t at y = 8: z = 0.4990909/1.2915900
run predict a.gram new.csv --std --json -o p.csv
good
near "$(key nlpd)" 1.2848074260 1e-9
prints '"coverage": 1'

# by the evidence; scaled or not, the same function up to the prior; info says what fit said
run fit anscombe.csv --method bayes -o b.gram --quiet
good
prints 'by the evidence' 'variance ' 'with probability 0.95 from' "Student's t with 10 degrees of freedom" 'Weights' 'log evidence' \
    'at the mean of the features'
grep '^noise' out >noise.row
run info b.gram
good
grep -qF "$(cat noise.row)" out || wrong 'info should say the same'

# the mean is ridge regression's with the same alpha
run fit anscombe.csv --method bayes --alpha 3 -o c.gram --quiet
good
run predict c.gram at.csv
good
mean=$(field 2 1)
run fit anscombe.csv --kernel linear --alpha 3 -o d.gram --quiet
good
run predict d.gram at.csv
good
near "$(field 2 1)" "$mean" 1e-10

# weights say how often a row was seen: the posterior of the weights is that of the repeated rows
LC_ALL=C awk -F, 'NR == 1 { print "w," $0 } NR > 1 { print 1 + NR % 3 "," $0 }' anscombe.csv >weighted.csv
run fit weighted.csv --method bayes --weights w --lambda 0 --no-scale -o w.gram --json --quiet
good
once=$(key constant)
LC_ALL=C awk -F, 'NR == 1 { print "x,y" } NR > 1 { for (i = 0; i < $1; i++) print $2 "," $3 }' weighted.csv >repeated.csv
run fit repeated.csv --method bayes --lambda 0 --no-scale --json --quiet
good
near "$(key constant)" "$once" 1e-12

# what cannot be
printf 'x,z,y\n1,2,3\n2,4,5\n3,6,8\n4,8,9\n5,10,12\n' >twice.csv
run fit twice.csv --method bayes --lambda 0 --quiet
bad 4 'the columns must be independent' '--alpha above 0'
run fit twice.csv --method bayes --quiet
good
printf 'x,y\n1,2\n' >one.csv
run fit one.csv --method bayes --quiet
bad 3 'one.csv' 'no degree of freedom'
printf 'x,y\n1,2\n2,5\n4,3\n' >three.csv
run fit three.csv --method bayes -o t.gram --quiet
good
run predict t.gram at.csv --std
bad 2 'no standard deviation' '--interval'
run predict t.gram at.csv --interval 0.9
good
run fit anscombe.csv --method bayes --kernel rbf --quiet
bad 2 '--kernel is not for bayes'
run fit anscombe.csv --method bayes --noise 1 --quiet
bad 2 '--noise is an option of krr'
run fit anscombe.csv --method bayes --prior-scale -1 --quiet
bad 2 '--prior-scale'
run sample b.gram --grid 0:1:5
bad 2 'b.gram is a model of the method bayes' 'Gaussian processes'
printf 'x,y\n1,1e200\n2,3e200\n3,2e200\n4,5e200\n' >huge.csv
run fit huge.csv --method bayes --quiet
bad 3 "huge.csv: row 4, column 'y': 5e+200 is too large"
printf 'x,z,y\n1,1,1\n2,1e200,2\n3,2e200,2\n4,5e200,6\n' >wide.csv
run fit wide.csv --method bayes --no-scale --quiet
bad 3 "row 4, column 'z': 5e+200 is too large" '--no-scale'
run predict b.gram new.csv --terms
bad 2 '--terms'
