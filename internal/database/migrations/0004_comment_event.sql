-- New comments as webhooks reported them, so that an edit that leaves no trace on the forge is
-- noticed: internal/store/comment_event.go.
create table comment_event (
  repository text   not null, -- its key
  comment_id bigint not null, -- on the forge
  digest     text   not null,
  event_at   bigint not null,
  primary key (repository, comment_id)
);
create index comment_event_at on comment_event (event_at);
