-- What a process claims next, of each tenant: with many repositories, one poll triggers all of them,
-- and no claim may read them all. See internal/queue/run.go.
create index work_ready on work (kind, tenant, urgent, not_before, key) where triggered > done and owner = '';
create index work_suspect on work (kind, not_before) where crashes > 0;
