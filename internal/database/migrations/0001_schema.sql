-- Times are microseconds since 1970, 0 is none.

-- One row, written by the health check.
create table heartbeat (written_at bigint not null);
insert into heartbeat (written_at) values (0);

-- Keyed, durable, coalescing work: internal/queue.
create table work (
  kind           text   not null,
  key            text   not null,
  triggered      bigint not null, -- number of triggers
  claimed        bigint not null, -- triggered, as the current or last run read it
  done           bigint not null, -- triggered, as the last successful run read it
  triggered_at   bigint not null, -- first trigger that no run has read; 0 for a schedule
  due_by         bigint not null, -- further triggers postpone the work until then at most
  not_before     bigint not null, -- when to run, if triggered > done
  retry_after    bigint not null, -- no trigger runs failed work before that
  attempts       bigint not null, -- since the last successful run, including the current one
  last_error     text   not null,
  failed_at      bigint not null,
  owner          text   not null, -- the current run
  lease_until    bigint not null,
  traces         text   not null default '', -- traceparents of triggers that no run has read, newest first, each followed by a space
  claimed_traces text   not null default '', -- those of triggers whose run has not succeeded yet
  primary key (kind, key)
);
create index work_due on work (kind, not_before) where triggered > done;

-- Accepted webhooks: internal/store, as all tables below.
create table delivery (
  receiver    text   not null,
  id          text   not null, -- assigned by the sender
  sender      text   not null, -- kind of the receiver
  event_type  text   not null, -- as the sender names it
  received_at bigint not null, -- first time
  seen_at     bigint not null, -- last time
  times       bigint not null,
  events      text   not null, -- JSON
  header      text   not null, -- JSON, without credentials
  body        bytea  not null,
  primary key (receiver, id)
);
create index delivery_received on delivery (received_at);

create table repository (
  key           text   primary key,
  forge         text   not null, -- its name in the server file
  host          text   not null, -- of the web pages, in lower case
  name          text   not null, -- OWNER/NAME, in lower case
  reconciled_at bigint not null,
  last_error    text   not null  -- of the last reconciliation; empty: it succeeded
);
create index repository_name on repository (host, name);

-- What the config of a repository refers to, so that events find it.
create table subscription (
  repository text not null, -- its key
  kind       text not null, -- image or release
  host       text not null, -- in lower case; empty for a pattern whose host contains a star
  path       text not null,
  pattern    text not null, -- empty: exactly host and path
  primary key (repository, kind, host, path, pattern)
);
create index subscription_path on subscription (kind, path, host);

-- Images that webhooks reported as changed.
create table image_event (
  host     text   not null, -- empty: any host
  path     text   not null,
  event_at bigint not null,
  primary key (host, path)
);
create index image_event_at on image_event (event_at);

-- When tags are read.
create table schedule (
  name     text   primary key, -- a cron expression; poll is that of the server
  fired_at bigint not null
);
create table repository_schedule (
  repository text not null, -- its key
  schedule   text not null,
  primary key (repository, schedule)
);
create index repository_schedule_name on repository_schedule (schedule);
create table refresh (
  repository   text   primary key, -- its key
  requested_at bigint not null -- cached answers from before are not used
);

-- The last webhook that triggered a reconciliation of a repository.
create table last_trigger (
  repository   text   primary key, -- its key
  receiver     text   not null,
  delivery     text   not null,
  triggered_at bigint not null
);

-- What promoter did and observed. Rows that Git, the forge, and promoter/_state still
-- contain are written again when they are lost.
create table history (
  id          text   primary key, -- derived from the content: the same event is one row
  at          bigint not null,
  repository  text   not null, -- its key
  name        text   not null, -- HOST/OWNER/NAME at that time, in lower case
  environment text   not null,
  application text   not null, -- _all: every one
  action      text   not null,
  promotion   text   not null, -- id of the promotion; empty: unknown or none
  snapshot    text   not null, -- its id
  versions    text   not null, -- JSON
  components  text   not null, -- their names, each between spaces
  commit_id   text   not null,
  number      bigint not null, -- of the pull request
  url         text   not null, -- of the pull request
  rule        text   not null, -- of the reason
  message     text   not null, -- of the reason
  username    text   not null, -- who decided or committed
  receiver    text   not null, -- of the webhook that triggered it
  delivery    text   not null  -- its id
);
create index history_at on history (at, id);
create index history_snapshot on history (repository, environment, application, snapshot, at);
create index history_target on history (repository, name, environment, application, at, id);
create table history_head (
  repository text not null, -- its key
  branch     text not null,
  commit_id  text not null, -- its history was read up to there
  primary key (repository, branch)
);
