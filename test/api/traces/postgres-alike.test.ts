import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { llmTrace } from '../../support/fixtures.ts';
import { KNOWN_KEYS } from '../../support/installation.ts';
import { fetchChecked } from '../../support/openapi/fetch-checked.ts';
import { ADMIN_KEY, PROJECT_KEY } from '../../support/server.ts';
import type { Body } from '../../support/surfaces.ts';
import { createMemoryDatabase, createPostgresTestDatabase } from '../../support/test-database.ts';

const AT = Date.now() - 60_000;
const ID = (number: number) => String(number).padStart(32, 'a');

let servers: readonly [sqlite: TestApp, postgres: TestApp];
beforeAll(async () => {
  const environment = {
    ...KNOWN_KEYS,
    SPANDREL_BOOTSTRAP_ORGANIZATION_ID: 'organization-of-the-test',
    SPANDREL_BOOTSTRAP_PROJECT_ID: 'project-of-the-test',
    SPANDREL_PUBLIC_URL: 'http://spandrel.example',
  };
  servers = [
    await startApp({ environment, database: createMemoryDatabase() }),
    await startApp({ environment, database: await createPostgresTestDatabase() }),
  ];
});
afterAll(async () => {
  for (const server of servers) await server.close();
});

type Call = readonly [verb: string, path: string, body?: Body, token?: string];

const whole = (number: number, changes: Body = {}) => ({
  ...llmTrace(AT + number, ID(number), `span-${number}`),
  ...changes,
});
const wild = {
  user_id: `it's "100%" 😀`,
  thread_id: '__proto__',
  labels: ['%', '"', 'a_b', 'é'],
  constructor: [1, null],
};
const child = (id: string, changes: Body) => ({
  span_id: id,
  parent_id: 'span-3',
  type: 'tool',
  timestamps: { started_at: AT + 5, finished_at: AT + 9 },
  ...changes,
});
const RANGE = `from=${AT - 1000}&to=${AT + 100_000}`;

const SEQUENCE: readonly Call[] = [
  ...[1, 2, 3].map((number): Call => ['POST', '/api/collector', whole(number)]),
  ['POST', '/api/collector', whole(4, { metadata: wild, expected_output: { b: 1.0, a: 12345678901234 } })],
  [
    'POST',
    '/api/collector',
    { ...whole(3), spans: [child('b', { error: 'no' }), child('a', { type: 'none' }), child('ö', {})] },
  ],
  [
    'POST',
    '/api/collector',
    {
      trace_id: ID(3),
      evaluations: [{ name: 'tone', score: 0.1, timestamps: { started_at: AT, finished_at: AT } }, { name: 'empty' }],
    },
  ],
  // Resends it with other tokens.
  ['POST', '/api/collector', { ...whole(2), spans: [{ ...whole(2).spans[0], metrics: { prompt_tokens: 7 } }] }],
  ['POST', '/api/collector', { trace_id: ID(9), spans: [{}] }],
  ['POST', '/api/collector', { trace_id: '' }],
  [
    'POST',
    '/api/pricing/overrides',
    { model: 'x.*', match: 'regex', inputCostPerToken: 0.1, outputCostPerToken: 0 },
    ADMIN_KEY,
  ],
  ['POST', '/api/collector', { ...whole(5), spans: [{ ...whole(5).spans[0], model: 'xyz' }] }],
  ...[1, 2, 3, 4, 5, 9].map((number): Call => ['GET', `/api/traces/${ID(number)}`]),
  ['GET', `/api/traces/${ID(3)}?spansLimit=2`],
  ['GET', `/api/traces/${ID(3)}?format=digest`],
  ['GET', `/api/traces/${ID(1).slice(0, 12)}`],
  ['POST', '/api/traces/search', { startDate: AT - 1000, endDate: AT + 100_000, includeSpans: true }],
  ...['started_at', 'total_cost', 'total_time_ms', 'first_token_ms'].map((sortBy): Call => {
    return ['POST', '/api/traces/search', { startDate: AT - 1000, endDate: AT + 100_000, sortBy, pageSize: 3 }];
  }),
  ['POST', '/api/traces/search', { query: '100%', startDate: AT - 1000, endDate: AT + 100_000 }],
  [
    'POST',
    '/api/traces/search',
    { filters: { 'metadata.labels': ['%'] }, startDate: AT - 1000, endDate: AT + 100_000 },
  ],
  ['POST', '/api/traces/search', { pageSize: 0 }],
  ['GET', '/api/thread/__proto__'],
  ['GET', `/api/analytics?${RANGE}&interval=total&group_by=label`],
  ['GET', `/api/analytics?${RANGE}&interval=hour&group_by=model`],
  ['GET', `/api/users/${encodeURIComponent(wild.user_id)}/stats?${RANGE}`],
  ['PATCH', `/api/traces/${ID(4)}/metadata`, { metadata: { labels: ['new'], user_id: null, more: 1 } }],
  ['PATCH', `/api/traces/${ID(8)}/metadata`, { metadata: { more: 1 } }],
  ['GET', `/api/traces/${ID(4)}`],
  ['DELETE', `/api/traces/${ID(1)}`],
  ['GET', `/api/traces/${ID(1)}`],
  ['POST', '/api/traces/search', { startDate: AT - 1000, endDate: AT + 100_000 }],
];

/** Receipt times and random ids differ between servers. */
const OWN =
  /"(inserted_at|updated_at|createdAt|trace_id|span_id|traceId|spanId|id|scrollId|spans_next_cursor|created_at)":("(?!a{20}|span-|[abö]")[^"]*"|\d+)/g;

async function ask({ address }: TestApp, [verb, path, body, token = PROJECT_KEY]: Call): Promise<string> {
  const response = await fetchChecked(address, path, {
    method: verb,
    headers: { 'x-auth-token': token, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return `${response.status} ${text.replace(OWN, '"$1":"own"').replace(/-[0-9A-Za-z]{6}\/traces/g, '-own/traces')}`;
}

it('T17: SQLite and PostgreSQL answer the same requests alike', async () => {
  const [sqlite, postgres] = servers;
  const statuses = new Set<string>();
  for (const call of SEQUENCE) {
    const [one, other] = [await ask(sqlite, call), await ask(postgres, call)];
    expect(other, `${call[0]} ${call[1]}`).toBe(one);
    statuses.add(one.slice(0, 3));
  }
  expect([...statuses].sort()).toEqual(['200', '201', '400', '404', '409', '422']);
});
