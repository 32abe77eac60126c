alter table target add column summary text not null default ''; -- a row of the overview, as tab-separated fields

create table landed (
  repository  text   not null, -- its key
  environment text   not null,
  application text   not null,
  at          bigint not null, -- of the newest landing
  snapshot    text   not null, -- its id
  commit_id   text   not null,
  number      bigint not null, -- of the pull request; 0: none or unknown
  url         text   not null,
  primary key (repository, environment, application)
);
insert into landed (repository, environment, application, at, snapshot, commit_id, number, url)
select repository, environment, application, at, snapshot, commit_id, number, url from (
  select repository, environment, application, at, snapshot, commit_id, number, url,
    row_number() over (partition by repository, environment, application order by at desc, id desc) as position
  from history where action in ('landed', 'merged', 'pushed')) as one
where position = 1;
