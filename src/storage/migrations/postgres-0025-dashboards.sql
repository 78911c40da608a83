-- Older processes may run.
create table "dashboards" ("project_id" text collate "C" not null, "id" text collate "C" not null, "name" text not null, "place" int not null, "created_at" bigint not null, "updated_at" bigint not null, primary key ("project_id", "id"));
create table "graphs" ("project_id" text collate "C" not null, "id" text collate "C" not null, "dashboard_id" text collate "C" null, "name" text not null, "graph" text not null, "filters" text not null, "grid_column" int not null, "grid_row" int not null, "col_span" int not null, "row_span" int not null, "created_at" bigint not null, "updated_at" bigint not null, primary key ("project_id", "id"));
create index "graphs_by_dashboard" on "graphs" ("project_id", "dashboard_id");
