-- Older processes must be stopped.
-- The index of searches moves into a file of its own, which is built anew.
DROP TABLE search_parts;
DROP TABLE search_facets;
DROP TABLE search_blocks;
DROP TABLE search_heads;
create table "search_state" ("step" text not null primary key);
