# R's smooth.spline with all knots: Rscript spline.R N LAMBDA, LAMBDA 0 for GCV. The same design as the others, other random numbers.
arguments <- as.numeric(commandArgs(trailingOnly = TRUE))
n <- arguments[1]
set.seed(1)
x <- 10 * ((0:(n - 1)) + 0.2 * sqrt(12) * (runif(n) - 0.5)) / n
y <- sin(x) + 0.3 * sqrt(12) * (runif(n) - 0.5)
range <- max(x) - min(x)
cost <- system.time(
  if (arguments[2] > 0) smooth.spline(x, y, lambda = n * arguments[2] / range^3, all.knots = TRUE, keep.data = FALSE)
  else smooth.spline(x, y, all.knots = TRUE, keep.data = FALSE))
cat(sprintf('{"seconds": %.6f, "cpu_seconds": %.6f}\n', cost[["elapsed"]], cost[["user.self"]] + cost[["sys.self"]]))
