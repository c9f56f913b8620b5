# R's data.table::fread: Rscript read_csv.R FILE
suppressMessages(library(data.table))
setDTthreads(as.integer(Sys.getenv("BENCH_THREADS", "0")))
path <- commandArgs(trailingOnly = TRUE)[1]
cost <- system.time(frame <- fread(path, showProgress = FALSE))
numbers <- as.vector(t(as.matrix(frame)))
numbers <- numbers[seq(1, length(numbers), by = 997)]
check <- c(numbers[1], numbers[length(numbers) %/% 2 + 1], mean(numbers), mean(abs(numbers)))
cat(sprintf('{"seconds": %.6f, "cpu_seconds": %.6f, "check": [%s]}\n', cost[["elapsed"]],
            cost[["user.self"]] + cost[["sys.self"]], paste(sprintf("%.17g", check), collapse = ", ")))
