-- Snapshots that pipelines posted: internal/store/snapshot.go. What was requested is also on
-- promoter/_state; descriptions and artifacts are only here.
create table snapshot (
  repository  text   not null, -- its key
  application text   not null,
  name        text   not null,
  receiver    text   not null, -- who posted it
  posted_at   bigint not null,
  content     text   not null, -- JSON, as it was posted
  images      text   not null, -- JSON: REPOSITORY:TAG@DIGEST by component, as the registry has them
  primary key (repository, application, name)
);
create index snapshot_posted on snapshot (posted_at);

alter table repository add column began_at bigint not null default 0; -- the last reconciliation that was recorded

-- What the last reconciliation of a repository found in each target: internal/store/target.go.
-- It is an index, which the next reconciliation writes again.
create table target (
  repository  text   not null, -- its key
  environment text   not null,
  application text   not null,
  position    bigint not null, -- in the order of the environments
  state       text   not null,
  since       bigint not null, -- since when it has this state
  content     text   not null, -- JSON
  primary key (repository, environment, application)
);
