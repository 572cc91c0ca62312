COPY (
    SELECT run_id, case_id, count(*) AS n,
        quantile_cont(MB_per_s, 0.25) AS q25, median(MB_per_s) AS median, quantile_cont(MB_per_s, 0.75) AS q75
    FROM (
        SELECT run_id, case_id, size_bytes / elapsed_s / 1e6 AS MB_per_s
        FROM read_parquet('dataset/trials/*/*.parquet', union_by_name = true)
        WHERE status = 'ok' AND NOT anchor AND protocol NOT IN ('link', 'store')
    )
    GROUP BY run_id, case_id
    ORDER BY run_id, case_id
) TO 'medians.csv' (HEADER);
