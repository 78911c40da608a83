/** What gateways report: requests that wait for their outcome, and events that are in no log. */

import { ID } from './postgres-0001-organization.ts';
import type { SqlMigration } from './sql-migration.ts';

const tables = [
  // What the request was admitted with, as JSON; kept until no outcome can follow any more.
  'ALTER TABLE requests ADD COLUMN admission text',
  'CREATE INDEX requests_admitted ON requests (received_at) WHERE state = 2',
  // Their envelopes are among the events, with types that the log does not show.
  `CREATE TABLE governance_events (
    organization_number integer NOT NULL,
    id ${ID} NOT NULL,
    created_at bigint NOT NULL,
    seq bigint NOT NULL,
    PRIMARY KEY (organization_number, id)
  )`,
  'CREATE INDEX governance_events_by_time ON governance_events (created_at)',
];

const functions = [
  'CREATE TYPE admission_row AS (organization_number integer, request_key text, admission text)',
  // events_after is how many further events of the organization come in the same batch.
  'CREATE TYPE governance_row AS (organization_number integer, id text, events_after integer)',
  // The appends of traces do without it. What follows the batch is done while its heads are held, so an id that another
  // process is about to store is waited for there, and raises unique_violation here.
  `CREATE FUNCTION append_reports(
    new_traces trace_row[], changed_traces trace_row[], new_spans span_row[], changed_spans span_row[],
    stored_evaluations evaluation_row[], new_requests request_row[], changed_requests request_row[],
    new_events event_row[], heads head_row[], erased_traces trace_row[],
    admissions admission_row[], governance governance_row[]
  ) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM append_batch(new_traces, changed_traces, new_spans, changed_spans, stored_evaluations, new_requests,
      changed_requests, new_events, heads, erased_traces);
    UPDATE requests SET admission = given.admission
    FROM unnest(admissions) AS given JOIN request_keys AS known
      ON known.organization_number = given.organization_number AND known.request_key = given.request_key
    WHERE requests.organization_number = known.organization_number
      AND requests.kept_at = known.kept_at AND requests.request_key = known.request_key;
    INSERT INTO governance_events (organization_number, id, created_at, seq)
    SELECT given.organization_number, given.id, log_heads.created_at, log_heads.seq - given.events_after
    FROM unnest(governance) AS given JOIN log_heads ON log_heads.organization_number = given.organization_number;
  END $$`,
  // Two statements, because what was locked only after a wait must be read as it is by then.
  `CREATE FUNCTION lock_requests(organization_numbers integer[], keys text[]) RETURNS SETOF requests LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM FROM unnest(organization_numbers, keys) AS wanted (organization_number, request_key)
    JOIN request_keys AS known USING (organization_number, request_key)
    ORDER BY known.organization_number, known.request_key FOR UPDATE OF known;
    RETURN QUERY SELECT requests.*
    FROM unnest(organization_numbers, keys) AS wanted (organization_number, request_key)
    JOIN request_keys AS known USING (organization_number, request_key)
    JOIN requests ON requests.organization_number = known.organization_number
      AND requests.kept_at = known.kept_at AND requests.request_key = known.request_key;
  END $$`,
];

export const gateway: SqlMigration = { name: 'postgres-0004-gateway', statements: [...tables, ...functions] };
