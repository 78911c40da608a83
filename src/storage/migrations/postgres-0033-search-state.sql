-- Older processes may run.
-- The last step of an index that lies in another database.
create table "search_state" ("step" text collate "C" not null, primary key ("step"));
