-- Who requested and approved what landed, and why: JSON; empty: nothing is known.
alter table history add column attribution text not null default '';
