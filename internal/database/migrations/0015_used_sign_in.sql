-- Sign-ins with OpenID Connect that were completed, so that none counts twice at any replica:
-- internal/store/sign_in.go. A row is deleted some time after its sign-in has expired.
create table used_sign_in (
  id         text   primary key,
  expires_at bigint not null
);
create index used_sign_in_expires on used_sign_in (expires_at);
