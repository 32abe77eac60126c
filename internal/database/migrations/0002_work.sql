-- Keyed, durable, coalescing work: internal/queue. Times are microseconds since 1970,
-- 0 is none.
create table work (
  kind        text   not null,
  key         text   not null,
  hinted      bigint not null, -- how often somebody said that there may be work
  claimed     bigint not null, -- hinted, as the present or last run read it
  done        bigint not null, -- hinted, as the last run that did well read it
  hinted_at   bigint not null, -- the first hint that no run has read; 0 for a schedule
  due_by      bigint not null, -- further hints put the work off until then at most
  not_before  bigint not null, -- when to run, where hinted > done
  held_until  bigint not null, -- no hint brings a failed run forward before that
  attempts    bigint not null, -- since the last run that did well, the present one included
  last_error  text   not null,
  failed_at   bigint not null,
  owner       text   not null, -- the run under way
  lease_until bigint not null,
  primary key (kind, key)
);
create index work_due on work (kind, not_before) where hinted > done;
