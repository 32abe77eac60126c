-- The places that the history tells of, and what happened at each: internal/store.
create index history_place on history (repository, name, environment, application, at, id);
