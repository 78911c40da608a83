/** A client that owns webhook endpoints and reports gateway requests. */

import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { type Answer, type Body, callRest, type RestCase } from './surfaces.ts';
import { until } from './temp.ts';

export type WebhookClient = ReturnType<typeof createWebhookClient>;

export type ClientOptions = {
  /** Called for every request: servers may change. */
  readonly address: () => string;
  readonly adminKey: string;
  readonly projectKey: string;
  /** For this long the client retries requests refused as overload, as SDKs do; by default not at all. */
  readonly patienceMs?: number;
};

export type Logged = { readonly id: string; readonly createdAtMs: number };

export type OwnEndpoint = { readonly id: string; readonly secret: string };

const RECORDS_PER_REPORT = 500;
const REFUSED_PAUSE_MS = 100;
const FOR_EVER_MS = 2 ** 50;
const ENDPOINTS = '/api/webhooks/v1/endpoints';

export function createWebhookClient({ address, adminKey, projectKey, patienceMs = 0 }: ClientOptions) {
  let reports = 0;

  async function call(request: RestCase): Promise<Answer> {
    const endMs = performance.now() + patienceMs;
    let answer = await callRest(address(), request);
    while (answer.status === 503 && performance.now() < endMs) {
      await delay(REFUSED_PAUSE_MS);
      answer = await callRest(address(), request);
    }
    return answer;
  }

  const ask = (verb: string, path: string, body?: object): Promise<Answer> =>
    call({
      verb,
      path,
      headers: { authorization: `Bearer ${adminKey}` },
      ...(body === undefined ? {} : { body }),
    });

  async function get(verb: string, path: string, body?: object): Promise<Body> {
    const answer = await ask(verb, path, body);
    expect(answer.status, `${verb} ${path}: ${answer.text}`).toBeLessThan(300);
    return answer.body;
  }

  async function reportIds(ids: readonly string[]): Promise<void> {
    const records = ids.map((id) => ({ gateway_request_id: id, status: 'success', occurred_at: Date.now() }));
    const { status, body, text } = await call({
      verb: 'POST',
      path: '/api/gateway/v1/requests',
      headers: { 'x-auth-token': projectKey },
      body: { records },
    });
    expect(status, text).toBe(200);
    expect(body.accepted, text).toBe(ids.length);
  }

  return {
    ask,
    /** Reports requests; resolves to the ids of their stored events, in the order of the log. */
    async report(count: number, tag = ''): Promise<readonly string[]> {
      const ids = Array.from({ length: count }, () => `req_${tag}${++reports}`);
      for (let sent = 0; sent < count; sent += RECORDS_PER_REPORT) {
        await reportIds(ids.slice(sent, sent + RECORDS_PER_REPORT));
      }
      return ids.map((id) => `${id}:completed`);
    },
    /** Sends this many events of a type about virtual keys; returns the ids of the keys, one for each. */
    async reportKeys(type: string, count: number, tag: string): Promise<readonly string[]> {
      const keys = Array.from({ length: count }, () => `${tag}${++reports}`);
      const more = { occurred_at: Date.now(), name: 'a key', display_prefix: 'sk-', reason: null };
      const events = keys.map((key) => ({ type, virtual_key_id: key, ...more }));
      const { accepted } = await get('POST', '/api/gateway/v1/governance-events', { events });
      expect(accepted).toBe(count);
      return keys;
    },
    async create(url: string, more: object = {}): Promise<OwnEndpoint> {
      const { data } = await get('POST', ENDPOINTS, { url, enabled_events: ['*'], ...more });
      return { id: data.id, secret: data.secret };
    },
    find: async (id: string): Promise<Body> => (await get('GET', `${ENDPOINTS}/${id}`)).data,
    change: async (id: string, change: object): Promise<Body> =>
      (await get('PATCH', `${ENDPOINTS}/${id}`, change)).data,
    archive: (id: string): Promise<Body> => get('DELETE', `${ENDPOINTS}/${id}`),
    roll: async (id: string, overlapSeconds: number): Promise<string> =>
      (await get('POST', `${ENDPOINTS}/${id}/roll-secret?overlap_seconds=${overlapSeconds}`)).data.secret,
    test: async (id: string): Promise<Body> => (await get('POST', `${ENDPOINTS}/${id}/test`)).data,
    health: async (id: string): Promise<Body> => (await get('GET', `${ENDPOINTS}/${id}/health`)).data,
    delivery: async (id: string, dispatchId: string): Promise<Body> =>
      (await get('GET', `${ENDPOINTS}/${id}/deliveries/${dispatchId}`)).data,
    redeliver: async (id: string, dispatchId: string): Promise<Body> =>
      (await get('POST', `${ENDPOINTS}/${id}/deliveries/${dispatchId}/redeliver`)).data,
    deadLetters: async (id: string): Promise<Body[]> => (await get('GET', `${ENDPOINTS}/${id}/dead-letters`)).data,
    /** The whole delivery log, newest first. */
    async attempts(id: string): Promise<Body[]> {
      const rows: Body[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: Body = await get('GET', `${ENDPOINTS}/${id}/deliveries?limit=200&cursor=${cursor}`);
        rows.push(...page.data);
        cursor = page.next_cursor;
      }
      return rows;
    },
    replay: async (id: string, range: { from: number; to: number; type?: string }): Promise<Body> =>
      (await get('POST', `${ENDPOINTS}/${id}/replay`, range)).data,
    replayed: async (id: string, replayId: string): Promise<Body> =>
      (await get('GET', `${ENDPOINTS}/${id}/replays/${replayId}`)).data,
    /** All events that the log lists, newest first. */
    async logged(): Promise<readonly Logged[]> {
      const events: Logged[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query: string = `from=0&to=${FOR_EVER_MS}&limit=200&cursor=${cursor}`;
        const page: Body = await get('GET', `/api/webhooks/v1/events?${query}`);
        events.push(...page.data.map(({ id, created }: Body) => ({ id, createdAtMs: Date.parse(created) })));
        cursor = page.next_cursor;
      }
      return events;
    },
    /** Waits until the endpoint has no undelivered event. */
    async untilIdle(id: string, deadlineMs = 180_000): Promise<void> {
      await until(async () => {
        const { oldest_undelivered_age_ms: age } = (await get('GET', `${ENDPOINTS}/${id}/health`)).data;
        return age === null;
      }, deadlineMs);
    },
  };
}
