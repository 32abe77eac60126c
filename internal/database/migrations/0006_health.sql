-- The latest report of each object about health: internal/store/health_report.go.
create table health_report (
  receiver    text   not null,
  source      text   not null, -- kind of the source
  repository  text   not null, -- HOST/NAME in lower case, that may use it; empty: any whose config names the object
  subject     text   not null,
  report      text   not null, -- JSON
  at          bigint not null, -- when the source observed it
  received_at bigint not null,
  primary key (receiver, source, repository, subject)
);
create index health_report_received on health_report (received_at);

-- What followed for landed commits, for forges without statuses.
create table health_state (
  repository text   not null, -- its key
  context    text   not null, -- of the target
  commit_id  text   not null,
  state      text   not null, -- JSON
  stored_at  bigint not null,
  primary key (repository, context, commit_id)
);
