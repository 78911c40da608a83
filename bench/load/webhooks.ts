import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { Keys } from '../sides.ts';
import type { Receiver } from './receiver.ts';

/** A webhook endpoint and its signing secret. */
export type Endpoint = { readonly id: string; readonly secret: string };

const path = '/api/webhooks/v1/endpoints';
const idleMs = 60_000;
const pollMs = 50;

export async function createEndpoint(port: number, keys: Keys, draft: object): Promise<Endpoint> {
  const body = await call({ port, keys, method: 'POST', path, status: 201 }, { enabled_events: ['*'], ...draft });
  return JSON.parse(body).data;
}

/** Resolves when the endpoint has no undelivered event and no attempt under way. */
export async function waitUntilIdle(port: number, keys: Keys, { id }: Endpoint): Promise<void> {
  for (const startedAt = performance.now(); performance.now() - startedAt < idleMs; await delay(pollMs)) {
    const body = await call({ port, keys, method: 'GET', path: `${path}/${id}/health`, status: 200 });
    const { oldest_undelivered_age_ms, success_rate, extras } = JSON.parse(body).data;
    if (oldest_undelivered_age_ms !== null || extras.in_flight !== 0) continue;
    if (success_rate !== 1) throw new Error(`Not all attempts succeeded: ${body}`);
    return;
  }
  throw new Error('The server did not deliver all there was in time.');
}

/** Throws unless the first request was signed with the secret of its endpoint. */
export function checkSignature(receiver: Receiver, endpoints: readonly Endpoint[]): void {
  const first = receiver.first();
  const lines = (first?.head ?? '').split('\r\n').slice(1);
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  const endpoint = endpoints.find(({ id }) => headers['webhook-id']?.startsWith(`${id}:`));
  if (first === null || endpoint === undefined) throw new Error('The receiver got nothing of these endpoints.');
  new Webhook(endpoint.secret).verify(first.body, headers);
}

type Call = {
  readonly port: number;
  readonly keys: Keys;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly status: number;
};

function call({ port, keys, method, path: target, status }: Call, body?: object): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const headers = { authorization: `Bearer ${keys.adminKey}`, 'content-type': 'application/json' };
  const sent = request({ host: '127.0.0.1', port, method, path: target, headers, agent: false }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    response.on('end', () => {
      if (response.statusCode === status) resolve(text);
      else reject(new Error(`${method} ${target} was answered ${response.statusCode}: ${text.slice(0, 400)}`));
    });
  });
  sent.on('error', reject);
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
}
