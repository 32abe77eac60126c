-- Which webhooks brought work about, for whoever follows them as traces: their
-- traceparents, the newest first, each with a space behind it, 20 at most.
alter table work add column traces text not null default ''; -- of the hints that no run has read
alter table work add column claimed_traces text not null default ''; -- of those whose run has not done well
