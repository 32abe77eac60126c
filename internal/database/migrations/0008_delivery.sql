-- When that began which an event ended or caused: the receipt of the webhook that led to an
-- action, and for "failed" since when the landed snapshot was unhealthy; 0: not known.
alter table history add column since_at bigint not null default 0;

-- Times on the way of a snapshot into a target: internal/store/milestone.go.
create table promotion_time (
  repository  text   not null, -- its key
  environment text   not null,
  application text   not null,
  snapshot    text   not null, -- its id
  kind        text   not null, -- gate, commit, or image
  name        text   not null, -- of the condition or gate, or of the component
  began_at    bigint not null,
  ended_at    bigint not null, -- 0: not yet
  stored_at   bigint not null,
  primary key (repository, environment, application, snapshot, kind, name)
);
create index promotion_time_stored on promotion_time (stored_at);
