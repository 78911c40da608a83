-- Older processes may run.
create table "budget_leases" ("organization_number" int not null, "budget_id" text collate "C" not null, "period_started_at" bigint not null, "subject" text collate "C" not null, "process_id" text collate "C" not null, "fence" int not null, "nano_usd" bigint not null, "renewed_at" bigint not null, primary key ("organization_number", "budget_id", "period_started_at", "subject", "process_id", "fence"));
create index "budget_leases_by_process" on "budget_leases" ("process_id");
create table "rate_buckets" ("organization_number" int not null, "virtual_key_id" text collate "C" not null, "dimension" text not null, "level" bigint not null, "filled_at" bigint not null, primary key ("organization_number", "virtual_key_id", "dimension"));
