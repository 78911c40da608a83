/** A SQLite database with rows of every kind in it, some as only later versions of the product will write them. */

import { randomBytes } from 'node:crypto';
import Database from 'better-sqlite3';
import { eventIdOf } from '../../src/domain/request-event.ts';
import type { NewApiKey } from '../../src/domain/store.ts';
import type { TraceAppend } from '../../src/domain/trace.ts';
import { openStore } from '../../src/storage/open.ts';
import {
  bareSpan,
  RECEIVED_AT_MS,
  randomHex,
  sampleAppend,
  sampleEvaluation,
  sampleEvaluator,
  sampleKey,
  samplePlan,
  sampleRequest,
  sampleSpan,
} from './conformance/samples.ts';
import { quietLog } from './quiet-log.ts';

export type CopySource = {
  readonly appends: readonly TraceAppend[];
  readonly keys: readonly Pick<NewApiKey, 'id'>[];
  readonly projectKeyHashes: readonly Buffer[];
  readonly projectIds: readonly string[];
  readonly evaluators: readonly { readonly projectId: string; readonly id: string }[];
};

/** The second organization and its project; the store makes only first ones. */
const SECOND = { organization: 'organization_second', project: 'project_second' } as const;
export const SECOND_ORGANIZATION = { id: SECOND.organization, number: 2 } as const;
const MONTH_MS = 31 * 86_400_000;
/** More than two batches. */
const MANY_SPANS = 5000;

export async function fillCopySource(file: string): Promise<CopySource> {
  const plan = samplePlan();
  const key = sampleKey(plan);
  const other = sampleKey(plan, {
    keyType: 'service',
    userId: null,
    createdByUserId: null,
    imported: true,
    bindings: [],
  });
  const evaluator = sampleEvaluator({ projectId: plan.project.id });
  const appends = [...everyKind(), ...sharedRequests(), manySpans()];
  const store = await openStore({ url: `sqlite:${file}`, queueMaxBytes: 64 * 1024 * 1024, log: quietLog });
  await store.installation.bootstrap(plan);
  await store.keys.insertApiKey(key);
  await store.keys.insertApiKey(other);
  await store.evaluators.insert(evaluator, 10);
  for (const append of appends) await store.traces.append(append);
  await store.close();
  const second = addByHand(file);
  return {
    appends,
    keys: [key, other, plan.apiKey],
    projectKeyHashes: [plan.project.keyHash, second.keyHash, second.previousKeyHash],
    projectIds: [plan.project.id, SECOND.project],
    evaluators: [evaluator],
  };
}

/** Ids in both forms, months apart, an error, a span that came again, a large value. */
function everyKind(): TraceAppend[] {
  const again = sampleAppend({ traceId: 'a trace of its own', spans: [sampleSpan({ spanId: 'the span' })] });
  const large = JSON.stringify({ type: 'text', value: 'x'.repeat(3 * 1024 * 1024) });
  return [
    sampleAppend({ evaluations: [sampleEvaluation(), sampleEvaluation({ score: 1e-7, passed: null })] }),
    again,
    { ...again, receivedAtMs: RECEIVED_AT_MS + 1, spans: [sampleSpan({ spanId: 'the span', type: 'tool' })] },
    sampleAppend({ traceId: 'ABC', expectedOutput: 'Größe \\ "x" {a,b} NULL', metadataJson: '{"a":"\\u0000\\\\"}' }),
    sampleAppend({ receivedAtMs: RECEIVED_AT_MS + MONTH_MS, evaluations: [sampleEvaluation({ score: 1e21 })] }),
    sampleAppend({ receivedAtMs: RECEIVED_AT_MS - 20 * MONTH_MS, spans: [sampleSpan({ outputJson: large })] }),
    sampleAppend({ spans: [sampleSpan({ costSource: 'a new word', costNanoUsd: null, errorJson: '{"m":"\\\\"}' })] }),
    sampleAppend({ traceId: `${randomHex(16)}`, spans: [bareSpan({ parentId: 'up' })], requests: [] }),
  ];
}

/** Two projects report the same request: the second one is kept under a further key. */
function sharedRequests(): TraceAppend[] {
  const requests = [sampleRequest({ gatewayRequestId: 'gw-shared' })];
  return [
    sampleAppend({ requests }),
    sampleAppend({ requests, projectId: SECOND.project, projectNumber: 2 }),
    sampleAppend({ organizationId: SECOND.organization, organizationNumber: 2 }),
  ];
}

function manySpans(): TraceAppend {
  return sampleAppend({ spans: Array.from({ length: MANY_SPANS }, () => bareSpan()), requests: [] });
}

function addByHand(file: string): { keyHash: Buffer; previousKeyHash: Buffer } {
  const keyHash = randomBytes(32);
  const previousKeyHash = randomBytes(32);
  const db = new Database(file);
  const at = RECEIVED_AT_MS;
  db.prepare(
    `INSERT INTO organizations (number, id, name, slug, access_version, created_at, updated_at)
     VALUES (2, ?, 'Second', 'second', 7, ?, ?)`,
  ).run(SECOND.organization, at, at);
  db.prepare('INSERT INTO teams VALUES (?, ?, ?, ?, ?, ?)').run(SECOND.organization, 'team_2', 'Team', 'team', at, at);
  db.prepare(
    `INSERT INTO projects (number, id, organization_id, team_id, name, slug, language, framework, emit_request_events,
       key_hash, key_hint, key_imported, previous_key_hash, previous_key_until, previous_key_imported, created_at, updated_at)
     VALUES (2, ?, ?, 'team_2', 'P', 'p', 'other', 'other', 0, ?, 'abcd', 1, ?, ?, 0, ?, ?)`,
  ).run(SECOND.project, SECOND.organization, keyHash, previousKeyHash, at + MONTH_MS, at, at);
  db.prepare('UPDATE projects SET key_last_used_at = ?').run(at);
  keepReceipts(db);
  settle(db, 'gw-shared');
  hide(db);
  db.close();
  return { keyHash, previousKeyHash };
}

/** One that is claimed and one that has its answer. */
function keepReceipts(db: Database.Database): void {
  const insert = db.prepare(`INSERT INTO idempotency_receipts VALUES (?, 'key', 'team.create', ?, ?, ?, ?)`);
  insert.run(SECOND.organization, 'claimed', randomBytes(32), RECEIVED_AT_MS, null);
  insert.run(SECOND.organization, "it's done", randomBytes(32), RECEIVED_AT_MS, randomBytes(100));
}

/** A request that was admitted and settled later, and one that was corrected. */
function settle(db: Database.Database, corrected: string): void {
  const createdAtMs = RECEIVED_AT_MS + 2 * MONTH_MS;
  const append = (seq: number, id: string, type: number) => {
    const envelope = JSON.stringify({ id, created: new Date(createdAtMs).toISOString(), data: { text: 'é\u2028😀' } });
    db.prepare('INSERT INTO events VALUES (1, ?, ?)').run(seq, envelope);
    db.prepare('INSERT INTO events_by_time VALUES (1, ?, ?, ?, ?)').run(createdAtMs, id, type, seq);
  };
  const seq = db.prepare<[], number>('SELECT seq FROM log_heads WHERE organization_number = 1').pluck().get() ?? 0;
  append(seq + 1, eventIdOf('gw-settled', 'settled'), 2);
  append(seq + 2, eventIdOf(corrected, 'correction'), 1);
  db.prepare(
    `INSERT INTO requests (organization_number, request_key, project_number, state, settled_seq, received_at)
     VALUES (1, 'gw-settled', 1, 3, ?, ?)`,
  ).run(seq + 1, RECEIVED_AT_MS);
  db.prepare('UPDATE requests SET correction_seq = ? WHERE organization_number = 1 AND request_key = ?').run(
    seq + 2,
    corrected,
  );
  db.prepare('UPDATE log_heads SET seq = ?, created_at = max(created_at, ?) WHERE organization_number = 1').run(
    seq + 2,
    createdAtMs,
  );
}

/** What retention puts out of reach before it has removed all of it. */
function hide(db: Database.Database): void {
  db.exec(`INSERT INTO traces (sequence, project_number, trace_id, inserted_at, updated_at, span_count, unpriced_spans,
      tokens_estimated, has_error, metadata)
    VALUES (999000, -1, '999000', 1, 1, 1, 0, 0, 0, '{}')`);
  db.exec(`INSERT INTO spans (project_number, trace_sequence, span_id, type, started_at, duration_ms, tokens_estimated)
    VALUES (1, 999000, 'forgotten', 0, 1, 1, 0)`);
}
