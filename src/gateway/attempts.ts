/** Sends a request to its providers, one after the other, until one answers. */

import type { Readable } from 'node:stream';
import type { Breakers } from '../domain/gateway/breaker.ts';
import type { ReadBody } from '../domain/gateway/dialects/dialect.ts';
import { rewriteBody } from '../domain/gateway/dialects/rewrite-body.ts';
import { circuitOpen, type GatewayFault, gatewayFault } from '../domain/gateway/gateway-fault.ts';
import type { Candidate as Choice } from '../domain/gateway/provider-choice.ts';
import type { ModelProviderRecord } from '../domain/model-providers/model-provider.ts';
import type { ProviderKeys } from '../domain/model-providers/provider-key.ts';
import { type BodyRoute, urlOf } from './data-routes.ts';
import { headersToProvider } from './forwarded-headers.ts';
import type { Upstream, UpstreamAnswer } from './upstream.ts';

export type AttemptsDeps = {
  readonly upstream: Upstream;
  readonly breakers: Breakers;
  readonly providerKeys: Pick<ProviderKeys, 'open'>;
};

export type Candidate = Choice<ModelProviderRecord>;

export type Sending = {
  readonly route: BodyRoute;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly bytes: Buffer;
  readonly body: ReadBody;
  readonly candidates: readonly Candidate[];
  /** How many of them are tried at most. */
  readonly attemptsMax: number;
  readonly signal: AbortSignal;
  /** Whether the request may be sent to a candidate after the first; the first was admitted. */
  readonly mayFallBackTo: (candidate: Candidate) => Promise<boolean>;
};

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable | Buffer;
};

export type Attempted = {
  /** The last provider that the request was sent to; null: none was tried. */
  readonly candidate: Candidate | null;
  readonly fallbackCount: number;
  /** Whether that provider may have read the request. */
  readonly isSent: boolean;
  /** `cancelled`: nobody waits for an answer any more. */
  readonly result: Answer | GatewayFault | 'cancelled';
};

const JSON_BODY = { 'content-type': 'application/json' };
const FALLBACK_STATUSES = new Set([404, 408, 429]);
/** Of the body of an error that is read for what it names. */
const ERROR_MAX_BYTES = 65_536;
const PROVIDER_ERROR = 502;
const PROVIDER_TIMEOUT = 504;

export async function attempt(deps: AttemptsDeps, sending: Sending): Promise<Attempted> {
  const { breakers } = deps;
  const { candidates, attemptsMax, mayFallBackTo, signal } = sending;
  let last: Attempted | null = null;
  let tried = 0;
  for (const [index, candidate] of candidates.entries()) {
    if (tried === attemptsMax) break;
    if (last === null && signal.aborted) return { ...NOT_TRIED, result: 'cancelled' };
    if (index > 0 && !(await mayFallBackTo(candidate))) continue;
    if (!breakers.mayTry(candidate.provider.id)) continue;
    if (last !== null) discard(last.result);
    const answer = await send(deps, sending, candidate);
    note(breakers, candidate, answer);
    const isSent = answer.kind === 'answered' || answer.isSent;
    last = { candidate, fallbackCount: tried, isSent, result: resultOf(answer) };
    tried += 1;
    if (last.result === 'cancelled' || !isFallback(answer)) return last;
  }
  return last ?? { ...NOT_TRIED, result: circuitOpen(waitMsOf(breakers, candidates)) };
}

const NOT_TRIED = { candidate: null, fallbackCount: 0, isSent: false } as const;

/** Until the first of them is tried again. */
function waitMsOf(breakers: Breakers, candidates: readonly Candidate[]): number {
  return Math.min(...candidates.map(({ provider }) => breakers.waitMsOf(provider.id)));
}

async function send(deps: AttemptsDeps, sending: Sending, { provider, model }: Candidate): Promise<Sent> {
  const { route, query, headers, bytes, body, signal } = sending;
  const asksForUsage = route.kind === 'chat' && body.isStreamed && provider.streamUsage && !body.asksForUsage;
  const renamed = model === body.model ? {} : { model };
  const request = {
    method: 'POST',
    url: urlOf(provider, { path: route.path, query, model }),
    headers: { ...headersToProvider(headers, provider, deps.providerKeys.open(provider)), ...JSON_BODY },
    timeoutMs: provider.timeoutMs,
    signal,
  } as const;
  const change = { ...renamed, ...(asksForUsage && { includeUsage: true }) };
  const answer = await deps.upstream.send({ ...request, body: rewriteBody(bytes, change) });
  if (!asksForUsage || answer.kind === 'failed' || answer.status !== 400) return answer;
  const error = await readStart(answer.body);
  // Of a longer one the rest is left out.
  if (!error.includes('stream_options'))
    return { ...answer, headers: { ...answer.headers, 'content-length': String(error.length) }, body: error };
  // Some servers do not know the option that was added.
  return await deps.upstream.send({ ...request, body: rewriteBody(bytes, { ...renamed, ...withoutOptions(body) }) });
}

/** Options of the caller's own stay. */
function withoutOptions({ params }: ReadBody): { withoutStreamOptions?: boolean } {
  return Object.hasOwn(params, 'stream_options') ? {} : { withoutStreamOptions: true };
}

type Sent = Exclude<UpstreamAnswer, { kind: 'answered' }> | ({ readonly kind: 'answered' } & Answer);

/** Never rejects: what arrived before a connection broke is all there is. */
async function readStart(body: Readable): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      parts.push(part);
      bytes += part.length;
      if (bytes >= ERROR_MAX_BYTES) break;
    }
  } catch {
    return Buffer.concat(parts);
  }
  return Buffer.concat(parts);
}

export function discard(result: Attempted['result']): void {
  if (typeof result === 'string' || !('body' in result) || Buffer.isBuffer(result.body)) return;
  result.body.on('error', () => undefined).destroy();
}

function note(breakers: Breakers, { provider }: Candidate, answer: Sent): void {
  if (answer.kind === 'failed' && answer.reason === 'cancelled') breakers.noteCancelled(provider.id);
  else if (answer.kind === 'failed' || answer.status >= 500) breakers.noteFailure(provider.id);
  else breakers.noteSuccess(provider.id);
}

function isFallback(answer: Sent): boolean {
  return answer.kind === 'failed' || answer.status >= 500 || FALLBACK_STATUSES.has(answer.status);
}

function resultOf(answer: Sent): Attempted['result'] {
  if (answer.kind === 'answered') return answer;
  if (answer.reason === 'cancelled') return 'cancelled';
  return answer.reason === 'timeout'
    ? gatewayFault(PROVIDER_TIMEOUT, 'provider_timeout', answer.message)
    : gatewayFault(PROVIDER_ERROR, 'provider_error', answer.message);
}
