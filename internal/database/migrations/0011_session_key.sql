-- One row: the key of the sessions of browsers, where the server file names none.
create table session_key (
  id    bigint primary key check (id = 1),
  value text   not null
);
