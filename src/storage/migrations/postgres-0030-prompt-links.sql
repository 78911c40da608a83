-- Older processes may run.
ALTER TABLE indexed_traces ADD COLUMN prompt_names bigint[], ADD COLUMN prompts bigint[], ADD COLUMN prompt_versions bigint[];
