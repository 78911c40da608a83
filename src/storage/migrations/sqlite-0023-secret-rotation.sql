-- Older processes may run.
alter table `installation` add column `pepper` blob null;
