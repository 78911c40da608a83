import { performance } from 'node:perf_hooks';
import { LABELS, MODELS, RARE_WORD, USERS, wordOf } from '../fill/traces.ts';
import { type RequestSource, runHttpLoad } from './http.ts';

/** A kind of search request. */
export type SearchCase = {
  readonly name: string;
  readonly path?: string;
  readonly body: (index: number) => object;
  /** The limit of the p99. */
  readonly msMax: number;
};

const LISTED_MS_MAX = 50;
/** With ten million traces. */
const MANY_LISTED_MS_MAX = 100;
const MANY_TRACES = 10_000_000;
const TEXT_MS_MAX = 300;
const VALUES_MS_MAX = 100;

const LIST = listed('list', () => ({}));

/** Searches in a database that fill/ filled with traces; each request differs. */
const CASES: readonly SearchCase[] = [
  LIST,
  listed('user', (index) => ({ filters: { 'metadata.user_id': [`user_${(index * 37) % USERS}`] } })),
  listed('values', (index) => ({
    filters: {
      'metadata.labels': [LABELS[2 + (index % 4)]],
      'spans.model': [MODELS[index % MODELS.length]],
      'metadata.value': { plan: ['team'], release: [`2026.${index % 12}.1`] },
    },
  })),
  listed('errors', () => ({ filters: { 'traces.error': ['true'] } })),
  listed('negated', (index) => ({ filters: { 'spans.model': [MODELS[index % 6]] }, negateFilters: true })),
  listed('evaluated', () => ({ filters: { 'evaluations.passed': { faithfulness: ['false'] } } })),
  listed('slow', (index) => ({ filters: { 'traces.duration_ms': [String(2_000 + (index % 100)), ''] } })),
  listed('nobody', (index) => ({ filters: { 'metadata.user_id': [`stranger_${index}`] } })),
  listed('by-cost', () => ({ sortBy: 'total_cost' })),
  listed('by-time', (index) => ({ sortBy: 'total_time_ms', filters: { 'spans.model': [MODELS[index % 6]] } })),
  { name: 'text-rare', body: () => ({ query: RARE_WORD }), msMax: TEXT_MS_MAX },
  { name: 'text-common', body: (index) => ({ query: wordOf(index % 50) }), msMax: TEXT_MS_MAX },
  { name: 'text-none', body: (index) => ({ query: `${wordOf(index % 50)} xyzzy` }), msMax: TEXT_MS_MAX },
  { name: 'facets', path: '/api/traces/facets', body: () => ({}), msMax: VALUES_MS_MAX },
  {
    name: 'suggestions',
    path: '/api/traces/facets/values',
    body: (index) => ({ name: 'metadata.user_id', prefix: `USER_${index % 10}` }),
    msMax: VALUES_MS_MAX,
  },
];

/** The kinds of searches among so many traces. Their pages have the default size. */
export function searchCases(traces: number): readonly SearchCase[] {
  if (traces < MANY_TRACES) return CASES;
  return CASES.map((each) => (each.msMax === LISTED_MS_MAX ? { ...each, msMax: MANY_LISTED_MS_MAX } : each));
}

function listed(name: string, body: (index: number) => object): SearchCase {
  return { name, body, msMax: LISTED_MS_MAX };
}

function searchRequest(projectKey: string, { path = '/api/traces/search', body }: SearchCase, index: number): Buffer {
  const text = JSON.stringify(body(index));
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `X-Auth-Token: ${projectKey}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${text}`);
}

/** Repeats one kind of search; returns the response times, ascending. */
export async function timeSearches(port: number, projectKey: string, searchCase: SearchCase, requests: number) {
  const tookMs: number[] = [];
  let index = 0;
  const createRequests = (): RequestSource => {
    let sentAt = 0;
    return {
      next() {
        index += 1;
        const request = searchRequest(projectKey, searchCase, index);
        sentAt = performance.now();
        return request;
      },
      read: () => void tookMs.push(performance.now() - sentAt),
    };
  };
  await runHttpLoad({ ports: [port], connections: 1, stop: { requests }, expectedStatus: 200, createRequests });
  return tookMs.sort((one, other) => one - other);
}

/** Searchers that send all kinds in turn. */
export function mixedSearches(projectKey: string): () => RequestSource {
  let index = 0;
  return () => ({
    next() {
      index += 1;
      return searchRequest(projectKey, CASES[index % CASES.length] ?? LIST, index);
    },
  });
}
