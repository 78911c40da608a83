/** A SQLite database with rows of every kind, some of which only later versions may write. */

import { randomBytes } from 'node:crypto';
import Database from 'better-sqlite3';
import { eventIdOf } from '../../src/domain/events/request-event.ts';
import type { GovernanceReport } from '../../src/domain/events/request-report.ts';
import type { TraceAppend } from '../../src/domain/traces/trace.ts';
import { openStore } from '../../src/storage/open.ts';
import { insertKey } from '../support/insert-key.ts';
import { BARE_CONTENT, governance, governanceOf, recordOf, reportOf } from './conformance/reports.ts';
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
  readonly keys: readonly { readonly id: string }[];
  readonly projectKeyHashes: readonly Buffer[];
  readonly projectIds: readonly string[];
  readonly governance: GovernanceReport;
  readonly evaluators: readonly { readonly projectId: string; readonly id: string }[];
};

/** The second organization and its project. */
const SECOND = { organization: 'organization_second', project: 'project_second' } as const;
export const SECOND_ORGANIZATION = { id: SECOND.organization, number: 2 } as const;
const MONTH_MS = 31 * 86_400_000;
/** More than two batches. */
const MANY_SPANS = 2_500;

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
  const store = await openStore({
    url: `sqlite:${file}`,
    queueMaxBytes: 64 * 1024 * 1024,
    log: quietLog,
    writer: 'here',
  });
  await store.installation.bootstrap(plan);
  await insertKey(store, key);
  await insertKey(store, other);
  await store.evaluators.insert(evaluator, 10);
  for (const append of appends) await store.traces.append(append);
  const content = { ...BARE_CONTENT, model: 'gpt-5', metadataJson: '{"é":1}' };
  await store.requests.report(reportOf([recordOf('admitted', { gatewayRequestId: 'gw-admitted', content })]));
  const appended = governanceOf([governance('vk_1:created:1'), governance('vk_1:created:2')]);
  await store.requests.reportGovernance(appended);
  await store.close();
  const second = addByHand(file);
  return {
    appends,
    keys: [key, other, plan.apiKey],
    projectKeyHashes: [plan.project.keyHash, second.keyHash, second.previousKeyHash],
    projectIds: [plan.project.id, SECOND.project],
    evaluators: [evaluator],
    governance: appended,
  };
}

/** Ids in both forms, distant months, an error, a resent span, a large value. */
function everyKind(): TraceAppend[] {
  const again = sampleAppend({ traceId: 'a trace of its own', spans: [sampleSpan({ spanId: 'the span' })] });
  const large = JSON.stringify({ type: 'text', value: 'x'.repeat(3 * 1024 * 1024) });
  return [
    sampleAppend({ evaluations: [sampleEvaluation(), sampleEvaluation({ score: 1e-7, passed: null })] }),
    again,
    { ...again, receivedAtMs: RECEIVED_AT_MS + 1, spans: [sampleSpan({ spanId: 'the span', type: 'tool' })] },
    sampleAppend({ traceId: 'ABC', expectedOutput: 'Größe \\ "x" {a,b} NULL', metadataJson: '{"a":"\\u0000\\\\"}' }),
    sampleAppend({ receivedAtMs: RECEIVED_AT_MS + MONTH_MS, evaluations: [sampleEvaluation({ score: 1e21 })] }),
    sampleAppend({
      receivedAtMs: RECEIVED_AT_MS - 20 * MONTH_MS,
      spans: [sampleSpan({ outputJson: large })],
      evaluations: [sampleEvaluation({ details: large })],
    }),
    sampleAppend({ spans: [sampleSpan({ costSource: 'a new word', costNanoUsd: null, errorJson: '{"m":"\\\\"}' })] }),
    sampleAppend({ traceId: `${randomHex(16)}`, spans: [bareSpan({ parentId: 'up' })], requests: [] }),
  ];
}

/** Two projects report the same request: the second gets another key. */
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
  db.prepare(
    `INSERT INTO identities SELECT organization_id, user_id, 'https://issuer.example', 'Größe', ? FROM members`,
  ).run(at);
  keepReceipts(db);
  settle(db, 'gw-shared');
  keepWebhooks(db);
  hide(db);
  db.close();
  return { keyHash, previousKeyHash };
}

/** Adds one claimed receipt and one with its answer. */
function keepReceipts(db: Database.Database): void {
  const insert = db.prepare(`INSERT INTO idempotency_receipts VALUES (?, 'key', 'team.create', ?, ?, ?, ?)`);
  insert.run(SECOND.organization, 'claimed', randomBytes(32), RECEIVED_AT_MS, null);
  insert.run(SECOND.organization, "it's done", randomBytes(32), RECEIVED_AT_MS, randomBytes(100));
}

/** Adds an endpoint with secrets of every kind and rows in all its tables. */
function keepWebhooks(db: Database.Database): void {
  const at = RECEIVED_AT_MS;
  const insert = (table: string, row: { readonly [column: string]: number | string | Buffer }) => {
    const columns = Object.keys(row);
    const placeholders = columns.map((column) => `:${column}`);
    db.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${placeholders.join(', ')})`).run(row);
  };
  insert('webhook_endpoints', {
    ...{ number: 7, id: 'webhookendpoint_7', organization_id: SECOND.organization, organization_number: 2 },
    ...{ destination_kind: 'sqs', sqs: '{"queueUrl":"é"}', sqs_secret: randomBytes(9), enabled_events: '["*"]' },
    ...{ status: 'active', max_batch_size: 1, max_batch_delay_ms: 0, max_in_flight: 1, secret: randomBytes(40) },
    ...{ previous_secret: randomBytes(40), previous_secret_until: at, destination_version: 1, run: 2, version: 3 },
    ...{ change_number: 21, created_at: at, updated_at: at },
  });
  const state = { position: 3, in_flight: 0, subscriptions: '[{"fromSeq":1,"mask":511}]', consecutive_failures: 1 };
  insert('webhook_states', { endpoint_number: 7, failing_since: at, ...state });
  insert('webhook_deliveries', {
    ...{
      number: 11,
      endpoint_number: 7,
      dispatch_id: 'd',
      status: 4,
      replay_number: 3,
      counted: 1,
      run: 2,
      attempt: 11,
    },
    ...{
      failures: 11,
      lost: 0,
      fence: 12,
      queued_at: at,
      created_at: at,
      ended_at: at,
      dead_reason: 0,
      error: 'timeout',
    },
    ...{ terminal_hint: 1, test: 0, event_count: 1, events_from: at, events_to: at, seqs: '[1]', event_ids: '["é"]' },
  });
  insert('webhook_attempts', {
    ...{
      endpoint_number: 7,
      fired_at: at,
      id: 'a',
      delivery_number: 11,
      attempt: 11,
      outcome: 3,
      response_status: 500,
    },
    ...{ latency_ms: 7, error: 'HTTP 500', response_body: 'no\u2028', test: 0, terminal_hint: 0 },
  });
  insert('webhook_replays', {
    ...{ number: 3, id: 'replay_3', endpoint_number: 7, from_ms: 0, to_ms: Number.MAX_SAFE_INTEGER, mask: 511 },
    ...{ position: 3, to_seq: 3, matched: 1, enqueued: 1, delivered: 0, dead: 1, status: 1, created_at: at },
  });
  insert('webhook_figures', { endpoint_number: 7, bucket: Math.floor(at / 10_000), finished: 2, succeeded: 1 });
  insert('webhook_hours', { organization_number: 2, hour: Math.floor(at / 3_600_000), attempts: 2 });
  db.exec('UPDATE webhook_changes SET number = 21');
}

/** Adds a settled request and a corrected one. */
function settle(db: Database.Database, corrected: string): void {
  const createdAtMs = RECEIVED_AT_MS + 2 * MONTH_MS;
  const append = (seq: number, id: string, type: number) => {
    const word = type === 2 ? 'gateway.request.settled' : 'gateway.request.completed';
    const envelope = JSON.stringify({
      id,
      type: word,
      created: new Date(createdAtMs).toISOString(),
      data: { text: 'é\u2028😀' },
    });
    db.prepare('INSERT INTO envelopes VALUES (1, ?, ?)').run(seq, envelope);
    db.prepare('INSERT INTO events VALUES (1, ?, ?, ?, ?)').run(createdAtMs, id, type, seq);
  };
  const seq = db.prepare<[], number>('SELECT seq FROM log_heads WHERE organization_number = 1').pluck().get() ?? 0;
  append(seq + 1, eventIdOf('gw-settled', { kind: 'settled' }), 2);
  for (const number of [1, 2, 3]) append(seq + 1 + number, eventIdOf(corrected, { kind: 'correction', number }), 1);
  db.prepare(
    `INSERT INTO requests (organization_number, request_key, project_number, state, settled_at, received_at)
     VALUES (1, 'gw-settled', 1, 3, ?, ?)`,
  ).run(createdAtMs, RECEIVED_AT_MS);
  db.prepare(
    `UPDATE requests SET correction_at = ?, earlier_corrections = ?
     WHERE organization_number = 1 AND request_key = ?`,
  ).run(createdAtMs, JSON.stringify([createdAtMs, createdAtMs]), corrected);
  db.prepare('UPDATE log_heads SET seq = ?, created_at = max(created_at, ?) WHERE organization_number = 1').run(
    seq + 4,
    createdAtMs,
  );
}

/** Adds a trace that retention has hidden but not yet removed. */
function hide(db: Database.Database): void {
  db.exec(`INSERT INTO traces (sequence, project_number, trace_id, inserted_at, updated_at, span_count, unpriced_spans,
      tokens_estimated, has_error, metadata)
    VALUES (999000, -1, '999000', 1, 1, 1, 0, 0, 0, '{}')`);
  db.exec(`INSERT INTO spans (project_number, trace_sequence, span_id, type, started_at, duration_ms, tokens_estimated)
    VALUES (1, 999000, 'forgotten', 0, 1, 1, 0)`);
}
