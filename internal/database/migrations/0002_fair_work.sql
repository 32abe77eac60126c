-- Whose work it is, and what was running when a process died: internal/queue.
alter table work add column tenant text not null default ''; -- shares the workers with other tenants; empty: none or unknown
alter table work add column urgent bigint not null default 0; -- 1: an event triggered it, not a schedule
alter table work add column crashes bigint not null default 0; -- processes that died during a run since the last successful one
alter table work add column crashed_owner text not null default ''; -- the run that was counted last
alter table work add column retry_at bigint not null default 0; -- when failed work is retried unless a trigger runs it earlier
create index work_running on work (kind, lease_until) where owner <> '';
alter table repository add column failures bigint not null default 0; -- reconciliations since the last successful one
