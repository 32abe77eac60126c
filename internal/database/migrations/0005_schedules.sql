-- When tags are read: internal/store. Lost, everything is read anew once. Times are
-- microseconds since 1970.
create table schedule (
  name     text   primary key, -- the times in words; poll is the server's own
  fired_at bigint not null
);
create table scheduled (
  lane     text not null,
  schedule text not null,
  primary key (lane, schedule)
);
create index scheduled_schedule on scheduled (schedule);
create table refresh (
  lane     text   primary key,
  asked_at bigint not null -- nothing counts that was read for it before
);
