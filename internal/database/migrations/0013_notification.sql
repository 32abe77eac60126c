-- Messages about promotions: internal/store/notification.go. Each row is one promotion at one
-- destination. It is deleted some time after the last event.
create table notification (
  id          text   primary key,
  repository  text   not null, -- its key
  destination text   not null,
  message     text   not null, -- JSON, with the events so far
  events      bigint not null, -- in the message
  sent        bigint not null, -- of these, sent or omitted
  receipt     text   not null, -- JSON: identifies the message at the service
  updated_at  bigint not null,
  sent_at     bigint not null, -- 0: never
  failed_at   bigint not null, -- 0: the last attempt succeeded, or there was none
  error       text   not null  -- of the last attempt
);
create index notification_updated on notification (updated_at);
create index notification_destination on notification (destination);

-- 0: the event is not among messages yet. Events of earlier releases are not sent.
alter table history add column notified bigint not null default 1;
create index history_notified on history (repository) where notified = 0;
