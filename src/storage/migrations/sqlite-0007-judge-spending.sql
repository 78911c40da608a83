-- Older processes may run.
create table "judge_spending" ("project_id" text not null, "day" integer not null, "spent_nano_usd" bigint not null, primary key ("project_id", "day"));
