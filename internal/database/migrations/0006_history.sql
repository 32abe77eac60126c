-- What promoter did and saw: internal/store. The rows are kept for ever, or as long as
-- the server's file says. What Git, the forge and promoter/_state still tell is written
-- again when they are lost. Times are microseconds since 1970, 0 is none.
create table history (
  id          text   primary key, -- of what happened: twice the same is one row
  at          bigint not null,
  repository  text   not null, -- its key
  name        text   not null, -- HOST/OWNER/NAME as it was then, in lower case
  environment text   not null,
  application text   not null, -- _all: every one
  act         text   not null,
  promotion   text   not null, -- the id of the promotion; empty: not known, or none
  snapshot    text   not null, -- its id
  versions    text   not null, -- JSON
  components  text   not null, -- their names, each between spaces
  commit_id   text   not null,
  number      bigint not null, -- of the pull request
  url         text   not null, -- of it
  rule        text   not null, -- of the reason
  words       text   not null, -- of the reason
  person      text   not null, -- who decided or committed
  receiver    text   not null, -- of the webhook that brought it about
  delivery    text   not null  -- its id
);
create index history_at on history (at, id);
create index history_snapshot on history (repository, environment, application, snapshot, at);
create table history_head (
  repository text not null, -- its key
  branch     text not null,
  commit_id  text not null, -- up to which its history was read
  primary key (repository, branch)
);
-- The last webhook that hinted at a repository.
create table cause (
  lane      text   primary key,
  receiver  text   not null,
  delivery  text   not null,
  hinted_at bigint not null
);
