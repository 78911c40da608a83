-- Older processes must be stopped.
-- The index knew the texts of one span of each trace. It is built again, with the texts of all.
DELETE FROM search_parts;
DELETE FROM search_facets;
DELETE FROM search_blocks;
UPDATE search_heads SET generation = generation + 1, written_block = NULL, removed_block = NULL, leased_until = 0;
DELETE FROM search_pending;
INSERT INTO search_pending (project_number, trace_sequence, mark) SELECT project_number, sequence, 1 FROM traces;
