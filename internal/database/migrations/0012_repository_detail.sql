-- What the last reconciliation found in a repository.
create table repository_detail (
  repository  text primary key, -- its key
  digest      text not null,    -- of all that was found, also of its targets: the same is not written again
  fingerprint text not null,    -- of the config file; empty: it cannot be used
  config      text not null,    -- the config file with its defaults; if it cannot be used, the last one that could
  content     text not null     -- JSON: problems of the config file, refused files, images that no component follows
);
