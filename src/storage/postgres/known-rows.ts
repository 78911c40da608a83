/** Reads the rows that a working set misses, and locks what the batch is going to change. */

import type pg from 'pg';
import { factsInEnvelope } from '../../domain/request-data.ts';
import { eventIdOf } from '../../domain/request-event.ts';
import type { TraceRecord } from '../../domain/trace.ts';
import type { OverdueRequest, StoredSpan } from '../append/tables.ts';
import { ADMITTED, eventTypes, unpackRequestState } from '../rows/codes.ts';
import { SUMMARY_COLUMNS, SUMMARY_SELECT, type SummaryRow, TRACE_SELECT, toSummary } from './trace-rows.ts';
import { type GovernanceId, type KnownRequest, logName } from './working-log.ts';
import { type KnownRows, type MissingRows, partKey, traceKey } from './working-set.ts';

export function hasMissing(missing: MissingRows): boolean {
  return Object.values(missing).some(({ size }) => size > 0);
}

/** Adds to what is known; inside the transaction that will write. */
export async function readMissing(client: pg.ClientBase, known: KnownRows, missing: MissingRows): Promise<void> {
  if (missing.keyIndexes.size > 0) await readKeyIndexes(client, known, [...missing.keyIndexes]);
  if (missing.traces.size > 0) await readTraces(client, known, missing.traces);
  if (missing.spans.size > 0) await readSpans(client, known, missing.spans);
  if (missing.spanIds.size > 0) await readSpanIds(client, known, missing.spanIds);
  if (missing.summaries.size > 0) await readSummaries(client, known, missing.summaries);
  if (missing.overdue.size > 0) await readOverdue(client, known, missing.overdue);
  if (missing.requests.size > 0) await readRequests(client, known, missing.requests);
  if (missing.told.size > 0) await readTold(client, known, missing.told);
  if (missing.governance.size > 0) await readGovernance(client, known, missing.governance);
}

async function readKeyIndexes(client: pg.ClientBase, known: KnownRows, numbers: readonly number[]): Promise<void> {
  for (const number of numbers) known.keyIndexes.set(number, 0);
  const { rows } = await client.query<{ number: number; index: number }>({
    name: 'append-key-indexes',
    text: `SELECT organization_number AS number, last_key_index AS index FROM log_heads
      WHERE organization_number = ANY($1::integer[])`,
    values: [numbers],
  });
  for (const { number, index } of rows) known.keyIndexes.set(number, index);
}

async function readTraces(client: pg.ClientBase, known: KnownRows, missing: MissingRows['traces']): Promise<void> {
  for (const key of missing.keys()) known.traces.set(key, null);
  const wanted = [...missing.values()];
  const { rows } = await client.query<TraceRecord & { projectNumber: number }>({
    name: 'append-traces',
    text: `${TRACE_SELECT.replace('SELECT', 'SELECT project_number AS "projectNumber",')}
      JOIN unnest($1::integer[], $2::text[]) AS wanted (project_number, trace_id) USING (project_number, trace_id)
      ORDER BY project_number, trace_id FOR UPDATE OF traces`,
    values: [wanted.map((each) => each.projectNumber), wanted.map((each) => each.traceId)],
  });
  for (const { projectNumber, ...record } of rows) known.traces.set(traceKey(projectNumber, record.traceId), record);
}

type PlaceRow = { readonly projectNumber: number; readonly sequence: number; readonly spanId: string };
type StoredSpanRow = PlaceRow & SummaryRow & Omit<StoredSpan, 'summary'>;

const OF_SPANS = `FROM spans
  JOIN unnest($1::integer[], $2::bigint[], $3::text[]) AS wanted (project_number, trace_sequence, span_id)
    USING (project_number, trace_sequence, span_id)`;
const SPAN_PLACE = 'project_number AS "projectNumber", trace_sequence AS sequence';

async function readSpans(client: pg.ClientBase, known: KnownRows, missing: MissingRows['spans']): Promise<void> {
  for (const key of missing.keys()) known.spans.set(key, null);
  const { rows } = await client.query<StoredSpanRow>({
    name: 'append-spans',
    text: `SELECT ${SPAN_PLACE}, ${SUMMARY_COLUMNS},
        params AS "paramsJson", emitted_request_id AS "emittedRequestId" ${OF_SPANS}`,
    values: spanValues(missing),
  });
  for (const { projectNumber, sequence, paramsJson, emittedRequestId, ...row } of rows) {
    const stored = { summary: toSummary(row), paramsJson, emittedRequestId };
    known.spans.set(partKey({ projectNumber, sequence }, row.spanId), stored);
  }
}

async function readSpanIds(client: pg.ClientBase, known: KnownRows, missing: MissingRows['spanIds']): Promise<void> {
  for (const key of missing.keys()) known.spanIds.set(key, false);
  const { rows } = await client.query<PlaceRow>({
    name: 'append-span-ids',
    text: `SELECT ${SPAN_PLACE}, span_id AS "spanId" ${OF_SPANS}`,
    values: spanValues(missing),
  });
  for (const row of rows) known.spanIds.set(partKey(row, row.spanId), true);
}

function spanValues(missing: MissingRows['spans']): readonly unknown[][] {
  const wanted = [...missing.values()];
  return [
    wanted.map(({ place }) => place.projectNumber),
    wanted.map(({ place }) => place.sequence),
    wanted.map(({ spanId }) => spanId),
  ];
}

async function readSummaries(
  client: pg.ClientBase,
  known: KnownRows,
  missing: MissingRows['summaries'],
): Promise<void> {
  for (const { projectNumber, sequence } of missing.values()) {
    const { rows } = await client.query<SummaryRow>({
      name: 'append-summaries',
      text: `${SUMMARY_SELECT} WHERE project_number = $1 AND trace_sequence = $2`,
      values: [projectNumber, sequence],
    });
    known.summaries.set(sequence, rows.map(toSummary));
  }
}

type RequestRow = {
  readonly organizationNumber: number;
  readonly key: string;
  readonly projectNumber: number;
  readonly gatewayRequestId: string | null;
  readonly state: number;
  readonly completedBy: number | null;
  readonly receivedAtMs: number;
  readonly completedAtMs: number | null;
  readonly settledAtMs: number | null;
  readonly correctionAtMs: number | null;
  /** Numbers joined by commas. */
  readonly earlierCorrections: string | null;
  readonly costNanoUsd: number | null;
  readonly admission: string | null;
};

async function readRequests(client: pg.ClientBase, known: KnownRows, missing: MissingRows['requests']): Promise<void> {
  for (const key of missing.keys()) known.requests.set(key, null);
  const wanted = [...missing.values()];
  const { rows } = await client.query<RequestRow>({
    name: 'append-requests',
    text: `SELECT organization_number AS "organizationNumber", request_key AS key,
        project_number AS "projectNumber", gateway_request_id AS "gatewayRequestId", state,
        completed_by AS "completedBy", received_at AS "receivedAtMs", completed_at AS "completedAtMs",
        settled_at AS "settledAtMs", correction_at AS "correctionAtMs", nano_usd AS "costNanoUsd", admission,
        earlier_corrections AS "earlierCorrections"
      FROM lock_requests($1, $2)`,
    values: [wanted.map((each) => each.organizationNumber), wanted.map((each) => each.key)],
  });
  for (const { organizationNumber, key, state, completedBy, earlierCorrections, ...row } of rows) {
    const earlierCorrectionsAtMs = (earlierCorrections ?? '').split(',').filter(Boolean).map(Number);
    const request = { ...row, earlierCorrectionsAtMs, state: unpackRequestState(state, completedBy) };
    known.requests.set(logName(organizationNumber, key), request);
  }
}

type ToldRow = { readonly organizationNumber: number; readonly id: string; readonly envelope: string };

/**
 * The newest completed events of requests that are locked. All events of one batch have the same instant, and a batch
 * may hold thousands, so each instant is read once for all that are wanted of it.
 */
async function readTold(client: pg.ClientBase, known: KnownRows, missing: MissingRows['told']): Promise<void> {
  const names = new Map<string, string>();
  const instants = new Map<string, readonly [organizationNumber: number, createdAtMs: number]>();
  const ids: string[] = [];
  for (const [name, { organizationNumber, key }] of missing) {
    known.told.set(name, null);
    const newest = newestOf(key, known.requests.get(name) ?? null);
    if (newest === null) continue;
    names.set(logName(organizationNumber, newest.id), name);
    instants.set(`${organizationNumber} ${newest.createdAtMs}`, [organizationNumber, newest.createdAtMs]);
    ids.push(newest.id);
  }
  const wanted = [...instants.values()];
  const { rows } = await client.query<ToldRow>({
    name: 'append-told',
    text: `SELECT organization_number AS "organizationNumber", id, envelope
      FROM unnest($1::integer[], $2::bigint[]) AS wanted (organization_number, created_at)
      JOIN events USING (organization_number, created_at)
      WHERE id = ANY($3::text[]) AND type = ${eventTypes.code('gateway.request.completed')}`,
    values: [
      wanted.map(([organizationNumber]) => organizationNumber),
      wanted.map(([, createdAtMs]) => createdAtMs),
      ids,
    ],
  });
  for (const { organizationNumber, id, envelope } of rows) {
    const name = names.get(logName(organizationNumber, id));
    if (name !== undefined) known.told.set(name, factsInEnvelope(envelope));
  }
}

function newestOf(key: string, request: KnownRequest | null): { id: string; createdAtMs: number } | null {
  if (request === null) return null;
  const { correctionAtMs, completedAtMs, earlierCorrectionsAtMs } = request;
  if (correctionAtMs !== null) {
    const number = earlierCorrectionsAtMs.length + 1;
    return { id: eventIdOf(key, { kind: 'correction', number }), createdAtMs: correctionAtMs };
  }
  return completedAtMs === null ? null : { id: eventIdOf(key, { kind: 'completed' }), createdAtMs: completedAtMs };
}

/** Those that another process settles meanwhile are found to be settled once they are locked. */
async function readOverdue(client: pg.ClientBase, known: KnownRows, missing: MissingRows['overdue']): Promise<void> {
  for (const [question, { admittedByMs, countMax }] of missing) {
    const { rows } = await client.query<OverdueRequest>({
      name: 'append-overdue',
      text: `SELECT organization_number AS "organizationNumber", request_key AS key FROM requests
        WHERE state = ${ADMITTED} AND received_at <= $1 ORDER BY received_at LIMIT $2`,
      values: [admittedByMs, countMax],
    });
    known.overdue.set(question, rows);
  }
}

async function readGovernance(
  client: pg.ClientBase,
  known: KnownRows,
  missing: MissingRows['governance'],
): Promise<void> {
  for (const name of missing.keys()) known.governance.set(name, false);
  const wanted = [...missing.values()];
  const { rows } = await client.query<GovernanceId>({
    name: 'append-governance',
    text: `SELECT organization_number AS "organizationNumber", id
      FROM unnest($1::integer[], $2::text[]) AS wanted (organization_number, id)
      JOIN governance_events USING (organization_number, id)`,
    values: [wanted.map((each) => each.organizationNumber), wanted.map((each) => each.id)],
  });
  for (const { organizationNumber, id } of rows) known.governance.set(logName(organizationNumber, id), true);
}
