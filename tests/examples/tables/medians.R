trials <- read.csv("runs.csv")
good <- subset(trials, status == "ok" & !as.logical(anchor) & !protocol %in% c("link", "store"))
good$MB_per_s <- good$size_bytes / good$elapsed_s / 1e6
summarise <- function(speed) {
  quartiles <- quantile(speed, c(0.25, 0.5, 0.75), names = FALSE)
  c(n = length(speed), q25 = quartiles[1], median = quartiles[2], q75 = quartiles[3])
}
table <- aggregate(MB_per_s ~ run_id + case_id, good, summarise)
table <- cbind(table[c("run_id", "case_id")], table$MB_per_s)
write.csv(table, "medians.csv", row.names = FALSE)
