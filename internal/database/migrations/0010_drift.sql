-- The drift that the last reconciliation found: JSON; empty: none.
alter table repository add column drift text not null default '';
