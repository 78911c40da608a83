-- Older processes may run.
create table "saved_views" ("project_id" text collate "C" not null, "id" text collate "C" not null, "name" text not null, "search" text not null, "visibility" text not null, "created_by" text collate "C" null, "created_at" bigint not null, "updated_at" bigint not null, primary key ("project_id", "id"));
create index "saved_views_by_creation" on "saved_views" ("project_id", "created_at", "id");
create index "saved_views_by_person" on "saved_views" ("created_by") where visibility = 'PERSONAL';
