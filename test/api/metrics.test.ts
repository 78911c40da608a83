import { afterEach, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { fetchChecked } from '../support/openapi/fetch-checked.ts';
import { callRest } from '../support/surfaces.ts';

let app: TestApp;

afterEach(() => app.close());

const COMMENT = /^# (HELP [a-z_]+ \S.*|TYPE [a-z_]+ (counter|gauge|histogram))$/;
const LABEL = '[a-z_]+="(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
const SAMPLE = new RegExp(`^[a-z_]+(\\{${LABEL}(,${LABEL})*\\})? [0-9.e+-]+$`);

const NAMES = [
  'nodejs_heap_size_total_bytes',
  'nodejs_heap_size_used_bytes',
  'process_max_fds',
  'process_open_fds',
  'spandrel_build_info',
  'spandrel_call_seconds',
  'spandrel_database_bytes',
  'spandrel_refusals_total',
  'spandrel_retention_backlog_traces',
  'spandrel_store_ready',
  'spandrel_traces_retention_erased_total',
  'spandrel_event_loop_delay_max_seconds',
  'spandrel_event_loop_delay_seconds',
  'spandrel_calls_total',
  'spandrel_connections_refused_total',
  'spandrel_credentials_refused_total',
  'spandrel_events_append_seconds',
  'spandrel_events_appended_total',
  'spandrel_events_retention_deleted_total',
  'spandrel_requests_total',
  'spandrel_sessions_cut_total',
  'spandrel_search_unindexed_traces',
  'spandrel_backfill_rows',
  'spandrel_backfills_unfinished',
  'spandrel_settlement_oldest_seconds',
  'spandrel_settlement_total',
  'spandrel_webhook_attempt_seconds',
  'spandrel_webhook_attempts_total',
  'spandrel_webhook_capped_total',
  'spandrel_webhook_dead_total',
  'spandrel_webhook_deliveries',
  'spandrel_webhook_disabled_total',
  'spandrel_webhook_endpoints',
  'spandrel_webhook_event_lag_seconds',
  'spandrel_webhook_in_flight',
  'spandrel_webhook_lease_lost_total',
  'spandrel_webhook_oldest_undelivered_seconds',
  'spandrel_webhook_outbox_rows',
  'spandrel_webhook_policy_refusals_total',
  'spandrel_webhook_replay_enqueued_total',
  'spandrel_webhook_sockets',
  'spandrel_webhook_stale_results_total',
  'spandrel_webhook_tests_total',
];
/** Metrics that appear with their first event. */
const LATER = [
  'spandrel_backfill_rows',
  'spandrel_call_seconds',
  'spandrel_calls_total',
  'spandrel_refusals_total',
  'spandrel_requests_total',
  'spandrel_webhook_attempt_seconds',
  'spandrel_webhook_attempts_total',
];

async function scrape(): Promise<string[]> {
  const response = await fetchChecked(app.address, '/metrics');
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const text = await response.text();
  expect(text.endsWith('\n')).toBe(true);
  return text.trimEnd().split('\n');
}

it('returns metrics without a credential, in the text format', async () => {
  app = await startApp();
  const lines = await scrape();
  expect(lines.filter((line) => !COMMENT.test(line) && !SAMPLE.test(line))).toEqual([]);
  const names = lines.flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? []);
  expect(NAMES.filter((name) => !names.includes(name)).sort()).toEqual(LATER);
  expect(names).toEqual(expect.arrayContaining(['process_resident_memory_bytes', 'process_cpu_seconds_total']));
  expect(new Set(names).size).toBe(names.length);
});

it('counts a collected request and its event', async () => {
  app = await startApp();
  const at = { started_at: Date.now(), finished_at: Date.now() };
  const span = { span_id: 's1', type: 'llm', model: 'gpt-5-mini', timestamps: at };
  const body = { trace_id: 't1', spans: [span] };
  const headers = { 'x-auth-token': app.projectKey };
  expect((await callRest(app.address, { verb: 'POST', path: '/api/collector', body, headers })).status).toBe(200);
  const lines = await scrape();
  expect(lines).toContain('spandrel_requests_total{source="span",status="success",result="emitted"} 1');
  expect(lines).toContain('spandrel_events_appended_total{type="gateway.request.completed"} 1');
  expect(lines).toContain('spandrel_events_append_seconds_count 1');
});

it('shows what runs, how long each route takes, why requests are refused, and what the database holds', async () => {
  app = await startApp();
  const refused = { path: '/api/traces/absent', headers: { 'x-auth-token': 'wrong' } };
  expect((await callRest(app.address, refused)).status).toBe(401);
  const lines = await scrape();
  const build = lines.find((line) => line.startsWith('spandrel_build_info'));
  expect(build).toMatch(/version="[^"]+",commit="([0-9a-f]{40})?",store="(sqlite|postgres)",node="\d+\.[^"]+"\} 1$/);
  expect(lines).toContain('spandrel_call_seconds_count{transport="rest",route="/api/traces/{trace_id}"} 1');
  expect(lines).toContain('spandrel_refusals_total{code="invalid_credentials"} 1');
  expect(lines).toContain('spandrel_store_ready 1');
  expect(lines).toContain('spandrel_retention_backlog_traces 0');
  const [bytes] = lines.filter((line) => line.startsWith('spandrel_database_bytes '));
  expect(Number(bytes?.split(' ')[1])).toBeGreaterThan(4_096);
});

it('counts what was sent again, what was rejected, and what still waits, as such', async () => {
  let nowMs = Date.now();
  app = await startApp({ clock: () => nowMs });
  const headers = { 'x-auth-token': app.projectKey };
  const at = { started_at: nowMs, finished_at: nowMs };
  const spans = ['s1', 's2'].map((span_id) => ({ span_id, type: 'llm', model: 'gpt-5-mini', timestamps: at }));
  for (const sent of [spans.slice(0, 1), spans])
    await callRest(app.address, {
      verb: 'POST',
      path: '/api/collector',
      body: { trace_id: 't1', spans: sent },
      headers,
    });
  const records = [
    { gateway_request_id: 'a', status: 'admitted', occurred_at: nowMs },
    { gateway_request_id: 'b', status: 'error' },
    'none',
  ];
  const path = '/api/gateway/v1/requests';
  await callRest(app.address, { verb: 'POST', path, body: { records }, headers });
  nowMs += 7_000;
  const lines = await scrape();
  expect(lines.filter((line) => line.startsWith('spandrel_requests_total')).toSorted()).toEqual([
    'spandrel_requests_total{source="report",status="admitted",result="stored"} 1',
    'spandrel_requests_total{source="report",status="error",result="rejected"} 1',
    'spandrel_requests_total{source="report",status="unknown",result="rejected"} 1',
    'spandrel_requests_total{source="span",status="success",result="duplicate"} 1',
    'spandrel_requests_total{source="span",status="success",result="emitted"} 2',
  ]);
  expect(lines).toContain('spandrel_events_appended_total{type="gateway.request.completed"} 2');
  expect(lines).toContain('spandrel_settlement_oldest_seconds 7');
});

it('takes GET and HEAD only', async () => {
  app = await startApp();
  const head = await fetch(`${app.address}/metrics`, { method: 'HEAD' });
  expect(head.status).toBe(200);
  expect(await head.text()).toBe('');
  const post = await callRest(app.address, { verb: 'POST', path: '/metrics', body: {} });
  expect(post.status).toBe(405);
});

it('is like any unknown path when it is switched off', async () => {
  app = await startApp({ environment: { SPANDREL_METRICS: 'off' } });
  const off = await callRest(app.address, { path: '/metrics' });
  const unknown = await callRest(app.address, { path: '/metricz' });
  expect(off.status).toBe(404);
  expect(off.body.code ?? off.body.error?.code).toBe('route_not_found');
  expect(Object.keys(off.body)).toEqual(Object.keys(unknown.body));
});
