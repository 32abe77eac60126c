-- One row that is written to see whether anything can be written.
create table heartbeat (written_at bigint not null);
insert into heartbeat (written_at) values (0);
