-- What the service knows besides its work: internal/store. All but deliveries is
-- found again from the repositories when it is lost. Times are microseconds since
-- 1970, 0 is none.
create table delivery (
  receiver    text   not null,
  id          text   not null, -- the sender's own
  sender      text   not null,
  event       text   not null,
  received_at bigint not null, -- the first time
  seen_at     bigint not null, -- the last time
  times       bigint not null,
  hints       text   not null, -- JSON
  header      text   not null, -- JSON
  body        bytea  not null,
  primary key (receiver, id)
);
create index delivery_received on delivery (received_at);
create table lane (
  key        text   primary key, -- of the repository
  forge      text   not null,    -- its name in the server's file
  host       text   not null,    -- of its pages, in lower case
  name       text   not null,    -- OWNER/NAME, in lower case
  looked_at  bigint not null,
  failure    text   not null     -- of the last look; empty: it did well
);
create index lane_name on lane (host, name);
create table follower (
  lane    text not null,
  kind    text not null, -- image or release
  host    text not null, -- in lower case; of a pattern empty, where its host has a star
  path    text not null,
  pattern text not null, -- empty: host and path are meant as they are
  primary key (lane, kind, host, path, pattern)
);
create index follower_path on follower (kind, path, host);
create table image_hint (
  host      text   not null, -- empty: any host
  path      text   not null,
  hinted_at bigint not null,
  primary key (host, path)
);
create index image_hint_at on image_hint (hinted_at);
