-- How far the branch promoter/_state of each repository was: it must not be moved back.
create table sealed (
  repository text   primary key, -- its key
  counter    bigint not null,
  commit_id  text   not null
);

-- One row: the key of the seals, where the server file names none.
create table seal_key (
  id    bigint primary key check (id = 1),
  value text   not null
);
