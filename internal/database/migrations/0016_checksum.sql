-- What each migration was when it was applied; empty until a release that knows checksums starts.
alter table schema_version add column checksum text not null default '';
