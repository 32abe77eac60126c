-- Written by go test ./internal/app -run TestServe_upgraded -record-previous.
create table schema_version (version bigint primary key, name text not null, applied_at bigint not null);
-- Times are microseconds since 1970, 0 is none.

-- One row, written by the health check.
create table heartbeat (written_at bigint not null);
insert into heartbeat (written_at) values (0);

-- Keyed, durable, coalescing work: internal/queue.
create table work (
  kind           text   not null,
  key            text   not null,
  triggered      bigint not null, -- number of triggers
  claimed        bigint not null, -- triggered, as the current or last run read it
  done           bigint not null, -- triggered, as the last successful run read it
  triggered_at   bigint not null, -- first trigger that no run has read; 0 for a schedule
  due_by         bigint not null, -- further triggers postpone the work until then at most
  not_before     bigint not null, -- when to run, if triggered > done
  retry_after    bigint not null, -- no trigger runs failed work before that
  attempts       bigint not null, -- since the last successful run, including the current one
  last_error     text   not null,
  failed_at      bigint not null,
  owner          text   not null, -- the current run
  lease_until    bigint not null,
  traces         text   not null default '', -- traceparents of triggers that no run has read, newest first, each followed by a space
  claimed_traces text   not null default '', -- those of triggers whose run has not succeeded yet
  primary key (kind, key)
);
create index work_due on work (kind, not_before) where triggered > done;

-- Accepted webhooks: internal/store, as all tables below.
create table delivery (
  receiver    text   not null,
  id          text   not null, -- assigned by the sender
  sender      text   not null, -- kind of the receiver
  event_type  text   not null, -- as the sender names it
  received_at bigint not null, -- first time
  seen_at     bigint not null, -- last time
  times       bigint not null,
  events      text   not null, -- JSON
  header      text   not null, -- JSON, without credentials
  body        bytea  not null,
  primary key (receiver, id)
);
create index delivery_received on delivery (received_at);

create table repository (
  key           text   primary key,
  forge         text   not null, -- its name in the server file
  host          text   not null, -- of the web pages, in lower case
  name          text   not null, -- OWNER/NAME, in lower case
  reconciled_at bigint not null,
  last_error    text   not null  -- of the last reconciliation; empty: it succeeded
);
create index repository_name on repository (host, name);

-- What the config of a repository refers to, so that events find it.
create table subscription (
  repository text not null, -- its key
  kind       text not null, -- image or release
  host       text not null, -- in lower case; empty for a pattern whose host contains a star
  path       text not null,
  pattern    text not null, -- empty: exactly host and path
  primary key (repository, kind, host, path, pattern)
);
create index subscription_path on subscription (kind, path, host);

-- Images that webhooks reported as changed.
create table image_event (
  host     text   not null, -- empty: any host
  path     text   not null,
  event_at bigint not null,
  primary key (host, path)
);
create index image_event_at on image_event (event_at);

-- When tags are read.
create table schedule (
  name     text   primary key, -- a cron expression; poll is that of the server
  fired_at bigint not null
);
create table repository_schedule (
  repository text not null, -- its key
  schedule   text not null,
  primary key (repository, schedule)
);
create index repository_schedule_name on repository_schedule (schedule);
create table refresh (
  repository   text   primary key, -- its key
  requested_at bigint not null -- cached answers from before are not used
);

-- The last webhook that triggered a reconciliation of a repository.
create table last_trigger (
  repository   text   primary key, -- its key
  receiver     text   not null,
  delivery     text   not null,
  triggered_at bigint not null
);

-- What promoter did and observed. Rows that Git, the forge, and promoter/_state still
-- contain are written again when they are lost.
create table history (
  id          text   primary key, -- derived from the content: the same event is one row
  at          bigint not null,
  repository  text   not null, -- its key
  name        text   not null, -- HOST/OWNER/NAME at that time, in lower case
  environment text   not null,
  application text   not null, -- _all: every one
  action      text   not null,
  promotion   text   not null, -- id of the promotion; empty: unknown or none
  snapshot    text   not null, -- its id
  versions    text   not null, -- JSON
  components  text   not null, -- their names, each between spaces
  commit_id   text   not null,
  number      bigint not null, -- of the pull request
  url         text   not null, -- of the pull request
  rule        text   not null, -- of the reason
  message     text   not null, -- of the reason
  username    text   not null, -- who decided or committed
  receiver    text   not null, -- of the webhook that triggered it
  delivery    text   not null  -- its id
);
create index history_at on history (at, id);
create index history_snapshot on history (repository, environment, application, snapshot, at);
create index history_target on history (repository, name, environment, application, at, id);
create table history_head (
  repository text not null, -- its key
  branch     text not null,
  commit_id  text not null, -- its history was read up to there
  primary key (repository, branch)
);
-- Whose work it is, and what was running when a process died: internal/queue.
alter table work add column tenant text not null default ''; -- shares the workers with other tenants; empty: none or unknown
alter table work add column urgent bigint not null default 0; -- 1: an event triggered it, not a schedule
alter table work add column crashes bigint not null default 0; -- processes that died during a run since the last successful one
alter table work add column crashed_owner text not null default ''; -- the run that was counted last
alter table work add column retry_at bigint not null default 0; -- when failed work is retried unless a trigger runs it earlier
create index work_running on work (kind, lease_until) where owner <> '';
alter table repository add column failures bigint not null default 0; -- reconciliations since the last successful one
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
-- Who requested and approved what landed, and why: JSON; empty: nothing is known.
alter table history add column attribution text not null default '';
-- The latest report of each object about health: internal/store/health_report.go.
create table health_report (
  receiver    text   not null,
  source      text   not null, -- kind of the source
  repository  text   not null, -- HOST/NAME in lower case, that may use it; empty: any whose config names the object
  subject     text   not null,
  report      text   not null, -- JSON
  at          bigint not null, -- when the source observed it
  received_at bigint not null,
  primary key (receiver, source, repository, subject)
);
create index health_report_received on health_report (received_at);

-- What followed for landed commits, for forges without statuses.
create table health_state (
  repository text   not null, -- its key
  context    text   not null, -- of the target
  commit_id  text   not null,
  state      text   not null, -- JSON
  stored_at  bigint not null,
  primary key (repository, context, commit_id)
);
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
-- When that began which an event ended or caused: the receipt of the webhook that led to an
-- action, and for "failed" since when the landed snapshot was unhealthy; 0: not known.
alter table history add column since_at bigint not null default 0;

-- Times on the way of a snapshot into a target: internal/store/milestone.go.
create table promotion_time (
  repository  text   not null, -- its key
  environment text   not null,
  application text   not null,
  snapshot    text   not null, -- its id
  kind        text   not null, -- gate, commit, or image
  name        text   not null, -- of the condition or gate, or of the component
  began_at    bigint not null,
  ended_at    bigint not null, -- 0: not yet
  stored_at   bigint not null,
  primary key (repository, environment, application, snapshot, kind, name)
);
create index promotion_time_stored on promotion_time (stored_at);
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
delete from comment_event;
delete from delivery;
insert into delivery (receiver, id, sender, event_type, received_at, seen_at, times, events, header, body) values ('images', '1.1.0', 'generic', 'push', 1795449367934808, 1795449367934808, 1, '[{"Kind":"image","Image":{"Host":"registry.example.com","Path":"acme/web","Tag":"1.1.0","Digest":""},"Repository":{"Host":"","Name":"","ID":""},"Number":0,"Comment":0,"Subject":""}]', '{"X-Github-Delivery":["1.1.0"],"X-Github-Event":[""]}', X'7B22696D61676573223A205B223132372E302E302E313A33343237312F61636D652F7765623A312E312E30225D2C20226964223A2022312E312E30227D');
insert into delivery (receiver, id, sender, event_type, received_at, seen_at, times, events, header, body) values ('forge', 'event-1', 'github', 'pull_request', 1795449369240220, 1795449369240220, 1, '[{"Kind":"repository","Image":{"Host":"","Path":"","Tag":"","Digest":""},"Repository":{"Host":"github.example.com","Name":"acme/gitops","ID":"5001"},"Number":0,"Comment":0,"Subject":""}]', '{"X-Github-Delivery":["event-1"],"X-Github-Event":["pull_request"]}', X'7B227265706F7369746F7279223A207B226964223A20353030312C202266756C6C5F6E616D65223A202261636D652F6769746F7073222C202268746D6C5F75726C223A2022687474703A2F2F3132372E302E302E313A33343430332F61636D652F6769746F7073227D7D');
insert into delivery (receiver, id, sender, event_type, received_at, seen_at, times, events, header, body) values ('images', '1.2.0', 'generic', 'push', 1795449369509873, 1795449369509873, 1, '[{"Kind":"image","Image":{"Host":"registry.example.com","Path":"acme/web","Tag":"1.2.0","Digest":""},"Repository":{"Host":"","Name":"","ID":""},"Number":0,"Comment":0,"Subject":""}]', '{"X-Github-Delivery":["1.2.0"],"X-Github-Event":[""]}', X'7B22696D61676573223A205B223132372E302E302E313A33343237312F61636D652F7765623A312E322E30225D2C20226964223A2022312E322E30227D');
insert into delivery (receiver, id, sender, event_type, received_at, seen_at, times, events, header, body) values ('forge', 'event-2', 'github', 'pull_request', 1795449371177099, 1795449371177099, 1, '[{"Kind":"repository","Image":{"Host":"","Path":"","Tag":"","Digest":""},"Repository":{"Host":"github.example.com","Name":"acme/gitops","ID":"5001"},"Number":0,"Comment":0,"Subject":""}]', '{"X-Github-Delivery":["event-2"],"X-Github-Event":["pull_request"]}', X'7B227265706F7369746F7279223A207B226964223A20353030312C202266756C6C5F6E616D65223A202261636D652F6769746F7073222C202268746D6C5F75726C223A2022687474703A2F2F3132372E302E302E313A33343430332F61636D652F6769746F7073227D7D');
insert into delivery (receiver, id, sender, event_type, received_at, seen_at, times, events, header, body) values ('forge', 'event-3', 'github', 'push', 1795449372188579, 1795449372188579, 1, '[{"Kind":"repository","Image":{"Host":"","Path":"","Tag":"","Digest":""},"Repository":{"Host":"github.example.com","Name":"acme/gitops","ID":"5001"},"Number":0,"Comment":0,"Subject":""}]', '{"X-Github-Delivery":["event-3"],"X-Github-Event":["push"]}', X'7B227265706F7369746F7279223A207B226964223A20353030312C202266756C6C5F6E616D65223A202261636D652F6769746F7073222C202268746D6C5F75726C223A2022687474703A2F2F3132372E302E302E313A33343430332F61636D652F6769746F7073227D7D');
delete from health_report;
delete from health_state;
delete from heartbeat;
insert into heartbeat (written_at) values (0);
delete from history;
insert into history (id, at, repository, name, environment, application, action, promotion, snapshot, versions, components, commit_id, number, url, rule, message, username, receiver, delivery, attribution, since_at) values ('dcf8d0a16819c6843c7b08be', 1795449368029290, 'github.example.com/5001', 'github.example.com/acme/gitops', 'dev', 'shop', 'pushed', 'github.example.com/5001/dev/shop/6d377a935e0a/1', 'v1:6d377a935e0a7d61117f122b2d983b3a8101c99b07094d634538416c2bb8fabb', '[{"component":"web","repository":"registry.example.com/acme/web","tag":"1.1.0","digest":"sha256:786968536848c1a3d0f8627580154a75c178c5ef8ed75f18f373a42b4d5ee01a","fromTag":"1.0.0","fromDigest":"sha256:6f9e38666a83db7011ab1126c5b3ae77d1e11e473e2bc3f12c23d581465eaae4"}]', ' web ', '704e439319c9d239f3ab865f7bcf0710247cbd1e', 0, '', 'newer', 'newer: web 1.0.0 -> 1.1.0', '', 'images', '1.1.0', '{}', 1795449367935399);
insert into history (id, at, repository, name, environment, application, action, promotion, snapshot, versions, components, commit_id, number, url, rule, message, username, receiver, delivery, attribution, since_at) values ('b5664077ba964847f47c85d5', 1795449369175837, 'github.example.com/5001', 'github.example.com/acme/gitops', 'staging', 'shop', 'opened', 'github.example.com/5001/staging/shop/6d377a935e0a/1', 'v1:6d377a935e0a7d61117f122b2d983b3a8101c99b07094d634538416c2bb8fabb', '[{"component":"web","repository":"registry.example.com/acme/web","tag":"1.1.0","digest":"sha256:786968536848c1a3d0f8627580154a75c178c5ef8ed75f18f373a42b4d5ee01a","fromTag":"1.0.0","fromDigest":"sha256:6f9e38666a83db7011ab1126c5b3ae77d1e11e473e2bc3f12c23d581465eaae4"}]', ' web ', 'af19b6bda369c6a3f912546b3401fd2599a7b795', 1, 'http://github.example.com/acme/gitops/pull/1', 'parent', 'dev has: web 1.0.0 -> 1.1.0', '', 'images', '1.1.0', '{}', 1795449367935399);
insert into history (id, at, repository, name, environment, application, action, promotion, snapshot, versions, components, commit_id, number, url, rule, message, username, receiver, delivery, attribution, since_at) values ('61bb47a30dbd712c7bc3fe7b', 1795449369000000, 'github.example.com/5001', 'github.example.com/acme/gitops', 'staging', 'shop', 'reject', '', '', '[{"component":"web","repository":"registry.example.com/acme/web","tag":"1.1.0","digest":"sha256:786968536848c1a3d0f8627580154a75c178c5ef8ed75f18f373a42b4d5ee01a"}]', ' web ', '', 1, '', '', 'pull request #1 was closed', 'ada', '', '', '{}', 0);
insert into history (id, at, repository, name, environment, application, action, promotion, snapshot, versions, components, commit_id, number, url, rule, message, username, receiver, delivery, attribution, since_at) values ('17fdd716169719b6f70ba222', 1795449369618437, 'github.example.com/5001', 'github.example.com/acme/gitops', 'dev', 'shop', 'pushed', 'github.example.com/5001/dev/shop/2d26a8a1e6f2/1', 'v1:2d26a8a1e6f2967643f690d092f645aa6031045aa27338a30237d94199368554', '[{"component":"web","repository":"registry.example.com/acme/web","tag":"1.2.0","digest":"sha256:dd3b4bcf749d21d29a642d9cac99c7fd20e7c60b29d8f8f0bb92d482794fbf23","fromTag":"1.1.0","fromDigest":"sha256:786968536848c1a3d0f8627580154a75c178c5ef8ed75f18f373a42b4d5ee01a"}]', ' web ', '4f8717831bdf1f06ddeb6cdd6abc8fe66c65b333', 0, '', 'newer', 'newer: web 1.1.0 -> 1.2.0', '', 'images', '1.2.0', '{}', 1795449369510425);
insert into history (id, at, repository, name, environment, application, action, promotion, snapshot, versions, components, commit_id, number, url, rule, message, username, receiver, delivery, attribution, since_at) values ('7e14a9819a3a524ef50a2334', 1795449371151039, 'github.example.com/5001', 'github.example.com/acme/gitops', 'staging', 'shop', 'opened', 'github.example.com/5001/staging/shop/2d26a8a1e6f2/1', 'v1:2d26a8a1e6f2967643f690d092f645aa6031045aa27338a30237d94199368554', '[{"component":"web","repository":"registry.example.com/acme/web","tag":"1.2.0","digest":"sha256:dd3b4bcf749d21d29a642d9cac99c7fd20e7c60b29d8f8f0bb92d482794fbf23","fromTag":"1.0.0","fromDigest":"sha256:6f9e38666a83db7011ab1126c5b3ae77d1e11e473e2bc3f12c23d581465eaae4"}]', ' web ', 'f2447efe1b7f79c7fc0e01ee298e3f360b4feeb2', 2, 'http://github.example.com/acme/gitops/pull/2', 'parent', 'dev has: web 1.0.0 -> 1.2.0', '', 'images', '1.2.0', '{}', 1795449369510425);
insert into history (id, at, repository, name, environment, application, action, promotion, snapshot, versions, components, commit_id, number, url, rule, message, username, receiver, delivery, attribution, since_at) values ('9e8ab65bfcb117da57086025', 1795449371000000, 'github.example.com/5001', 'github.example.com/acme/gitops', 'staging', 'shop', 'hold', '', '', 'null', ' ', '', 0, '', '', 'database migration', 'ada', '', '', '{}', 0);
delete from history_head;
insert into history_head (repository, branch, commit_id) values ('github.example.com/5001', 'main', '4f8717831bdf1f06ddeb6cdd6abc8fe66c65b333');
delete from image_event;
insert into image_event (host, path, event_at) values ('registry.example.com', 'acme/web', 1795449369510224);
delete from landed;
insert into landed (repository, environment, application, at, snapshot, commit_id, number, url) values ('github.example.com/5001', 'dev', 'shop', 1795449371160751, 'v1:2d26a8a1e6f2967643f690d092f645aa6031045aa27338a30237d94199368554', '4f8717831bdf1f06ddeb6cdd6abc8fe66c65b333', 0, '');
delete from last_trigger;
insert into last_trigger (repository, receiver, delivery, triggered_at) values ('github.example.com/5001', 'forge', 'event-3', 1795449372189631);
delete from promotion_time;
insert into promotion_time (repository, environment, application, snapshot, kind, name, began_at, ended_at, stored_at) values ('github.example.com/5001', 'dev', 'shop', 'v1:6d377a935e0a7d61117f122b2d983b3a8101c99b07094d634538416c2bb8fabb', 'image', 'web', 1795449307000000, 0, 1795449369201400);
insert into promotion_time (repository, environment, application, snapshot, kind, name, began_at, ended_at, stored_at) values ('github.example.com/5001', 'staging', 'shop', 'v1:6d377a935e0a7d61117f122b2d983b3a8101c99b07094d634538416c2bb8fabb', 'image', 'web', 1795449307000000, 0, 1795449369201400);
insert into promotion_time (repository, environment, application, snapshot, kind, name, began_at, ended_at, stored_at) values ('github.example.com/5001', 'dev', 'shop', 'v1:2d26a8a1e6f2967643f690d092f645aa6031045aa27338a30237d94199368554', 'image', 'web', 1795449309000000, 0, 1795449371165824);
insert into promotion_time (repository, environment, application, snapshot, kind, name, began_at, ended_at, stored_at) values ('github.example.com/5001', 'staging', 'shop', 'v1:2d26a8a1e6f2967643f690d092f645aa6031045aa27338a30237d94199368554', 'image', 'web', 1795449309000000, 0, 1795449371165824);
delete from refresh;
delete from repository;
insert into repository (key, forge, host, name, reconciled_at, last_error, failures, began_at) values ('github.example.com/5001', 'forge', 'github.example.com', 'acme/gitops', 1795449376323011, '', 0, 1795449372210974);
delete from repository_schedule;
delete from schedule;
insert into schedule (name, fired_at) values ('poll', 1795449367786306);
delete from schema_version;
insert into schema_version (version, name, applied_at) values (1, 'schema', 1795449367668995);
insert into schema_version (version, name, applied_at) values (2, 'fair_work', 1795449367672512);
insert into schema_version (version, name, applied_at) values (3, 'seals', 1795449367673337);
insert into schema_version (version, name, applied_at) values (4, 'comment_event', 1795449367674088);
insert into schema_version (version, name, applied_at) values (5, 'attribution', 1795449367674833);
insert into schema_version (version, name, applied_at) values (6, 'health', 1795449367676495);
insert into schema_version (version, name, applied_at) values (7, 'snapshots', 1795449367678507);
insert into schema_version (version, name, applied_at) values (8, 'delivery', 1795449367680057);
insert into schema_version (version, name, applied_at) values (9, 'overview', 1795449367686326);
delete from seal_key;
delete from sealed;
insert into sealed (repository, counter, commit_id) values ('github.example.com/5001', 3, '4f7524ef22fc32552dc19b8efcf6b698f52269b6');
delete from snapshot;
delete from subscription;
insert into subscription (repository, kind, host, path, pattern) values ('github.example.com/5001', 'image', 'registry.example.com', 'acme/web', '');
insert into subscription (repository, kind, host, path, pattern) values ('github.example.com/5001', 'image', 'registry.example.com', 'acme/worker', '');
delete from target;
insert into target (repository, environment, application, position, state, since, content, summary) values ('github.example.com/5001', 'dev', 'shop', 0, 'same same', 1795449367882163, '{"environment":"dev","application":"shop","branch":"main","paths":["dev/shop.yaml"],"state":"same","rule":"same","message":"already up to date","current":[{"component":"web","repository":"registry.example.com/acme/web","tag":"1.2.0","digest":"sha256:dd3b4bcf749d21d29a642d9cac99c7fd20e7c60b29d8f8f0bb92d482794fbf23"},{"component":"worker","repository":"registry.example.com/acme/worker","tag":"1.0.0","digest":"sha256:31bb6563ced69b514fd077f60a09a394de51bd2619ca03c51304ceef88f058cb"}],"wanted":[{"component":"web","repository":"registry.example.com/acme/web","tag":"1.2.0","digest":"sha256:dd3b4bcf749d21d29a642d9cac99c7fd20e7c60b29d8f8f0bb92d482794fbf23"},{"component":"worker","repository":"registry.example.com/acme/worker","tag":"1.0.0","digest":"sha256:31bb6563ced69b514fd077f60a09a394de51bd2619ca03c51304ceef88f058cb"}],"detail":{"propose":"automatic","land":"push"}}', 'web 1.2.0, worker 1.0.0		same	already up to date	0			0		same');
insert into target (repository, environment, application, position, state, since, content, summary) values ('github.example.com/5001', 'staging', 'shop', 1, 'waiting held', 1795449376322065, '{"environment":"staging","application":"shop","after":["dev"],"branch":"main","paths":["staging/shop.yaml"],"state":"waiting","rule":"held","message":"on hold by ada since 2026-11-23: database migration","current":[{"component":"web","repository":"registry.example.com/acme/web","tag":"1.0.0","digest":"sha256:6f9e38666a83db7011ab1126c5b3ae77d1e11e473e2bc3f12c23d581465eaae4"},{"component":"worker","repository":"registry.example.com/acme/worker","tag":"1.0.0","digest":"sha256:31bb6563ced69b514fd077f60a09a394de51bd2619ca03c51304ceef88f058cb"}],"wanted":[{"component":"web","repository":"registry.example.com/acme/web","tag":"1.2.0","digest":"sha256:dd3b4bcf749d21d29a642d9cac99c7fd20e7c60b29d8f8f0bb92d482794fbf23"},{"component":"worker","repository":"registry.example.com/acme/worker","tag":"1.0.0","digest":"sha256:31bb6563ced69b514fd077f60a09a394de51bd2619ca03c51304ceef88f058cb"}],"number":2,"url":"http://github.example.com/acme/gitops/pull/2","detail":{"propose":"automatic","land":"pr","hold":{"kind":"hold","by":"ada","at":"2026-11-23T15:56:11Z","reason":"database migration","scope":"shop in staging"},"opened":"2026-11-23T15:56:10Z"}}', 'web 1.0.0, worker 1.0.0	web 1.2.0	held	on hold by ada since 2026-11-23: database migration	0		hold	2	http://github.example.com/acme/gitops/pull/2	waiting');
insert into target (repository, environment, application, position, state, since, content, summary) values ('github.example.com/5001', 'prod', 'shop', 2, 'same same', 1795449367882163, '{"environment":"prod","application":"shop","after":["staging"],"branch":"main","paths":["prod/shop.yaml"],"state":"same","rule":"same","message":"already up to date","current":[{"component":"web","repository":"registry.example.com/acme/web","tag":"1.0.0","digest":"sha256:6f9e38666a83db7011ab1126c5b3ae77d1e11e473e2bc3f12c23d581465eaae4"},{"component":"worker","repository":"registry.example.com/acme/worker","tag":"1.0.0","digest":"sha256:31bb6563ced69b514fd077f60a09a394de51bd2619ca03c51304ceef88f058cb"}],"wanted":[{"component":"web","repository":"registry.example.com/acme/web","tag":"1.0.0","digest":"sha256:6f9e38666a83db7011ab1126c5b3ae77d1e11e473e2bc3f12c23d581465eaae4"},{"component":"worker","repository":"registry.example.com/acme/worker","tag":"1.0.0","digest":"sha256:31bb6563ced69b514fd077f60a09a394de51bd2619ca03c51304ceef88f058cb"}],"detail":{"notes":["web 1.2.0 is waiting in staging: on hold by ada since 2026-11-23: database migration"],"propose":"automatic","land":"automerge"}}', 'web 1.0.0, worker 1.0.0		same	already up to date	0			0		same');
delete from work;
insert into work (kind, key, triggered, claimed, done, triggered_at, due_by, not_before, retry_after, attempts, last_error, failed_at, owner, lease_until, traces, claimed_traces, tenant, urgent, crashes, crashed_owner, retry_at) values ('poll', 'all', 2, 1, 1, 0, 1795449367718899, 1795452748183598, 0, 0, '', 0, '', 0, '', '', '', 0, 0, '', 0);
insert into work (kind, key, triggered, claimed, done, triggered_at, due_by, not_before, retry_after, attempts, last_error, failed_at, owner, lease_until, traces, claimed_traces, tenant, urgent, crashes, crashed_owner, retry_at) values ('sweep', 'all', 2, 1, 1, 0, 1795449367718899, 1795452967752730, 0, 0, '', 0, '', 0, '', '', '', 0, 0, '', 0);
insert into work (kind, key, triggered, claimed, done, triggered_at, due_by, not_before, retry_after, attempts, last_error, failed_at, owner, lease_until, traces, claimed_traces, tenant, urgent, crashes, crashed_owner, retry_at) values ('repository', 'github.example.com/5001', 8, 8, 8, 0, 1795449372189002, 1795449372189002, 0, 0, '', 0, '', 0, '', '', 'github.example.com/acme', 0, 0, '', 0);
