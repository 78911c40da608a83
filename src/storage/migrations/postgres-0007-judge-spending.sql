-- Older processes may run.
create table "judge_spending" ("project_id" text collate "C" not null, "day" int not null, "spent_nano_usd" bigint not null, primary key ("project_id", "day"));
