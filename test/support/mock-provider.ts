/** A model provider that speaks both dialects in the documented shapes, and misbehaves as a test decides. */

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { documentedBody, documentedStream } from './documented-answers.ts';

/** How one request is answered; an empty step is the usual answer of the route. */
export type MockStep = {
  /** The name of a documented answer (test/gateway/documented), instead of the usual one of the route. */
  readonly answer?: string;
  /** Asks for calls of tools, where the route has such an answer. */
  readonly tools?: boolean;
  /** As JSON or text, instead of a documented answer. */
  readonly body?: unknown;
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  /** `off`: tells no usage. `always`: also to a stream of chat that did not ask. */
  readonly usage?: 'off' | 'always';
  /** 400 that names stream_options, for a request that has them. */
  readonly refusesStreamOptions?: boolean;
  /** Before the head of the answer. */
  readonly firstByteMs?: number;
  /** Before each further part of the body. */
  readonly betweenMs?: number;
  /** Of one part of the body; by default a stream is written event by event. */
  readonly partBytes?: number;
  /** Destroys the socket after so many bytes of the body; 0: behind the head. */
  readonly breaksAfterBytes?: number;
  /** Destroys the socket before the head. */
  readonly resets?: boolean;
  /** Never answers. */
  readonly hangs?: boolean;
  /** Repeats the first event that holds text until the caller leaves. */
  readonly isEndless?: boolean;
  /** A whole answer whose text is so long. */
  readonly hugeBytes?: number;
  /** A redirect to this URL. */
  readonly redirect?: string;
};

export type MockRequest = {
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The body of the answer; at most 1 MiB is kept. */
  sent(): Buffer;
  sentBytes(): number;
  addSent(part: Buffer): void;
  /** Whether the connection broke before the answer was through, from either side. */
  isAborted: boolean;
  isFinished: boolean;
};

export type MockProvider = {
  /** The base URL, with /v1. */
  readonly url: string;
  /** All that came, in order of completion. */
  readonly requests: readonly MockRequest[];
  /** Steps for the next requests that have none in the header `x-mock-step` (JSON). */
  next(...steps: readonly MockStep[]): void;
  close(): Promise<void>;
};

const STEP_HEADER = 'x-mock-step';
const SENT_MAX_BYTES = 1024 * 1024;
const JSON_HEADERS = { 'content-type': 'application/json' };
const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };

export async function startMockProvider(): Promise<MockProvider> {
  const requests: MockRequest[] = [];
  const queue: MockStep[] = [];
  const server = createServer((request, response) => void serve(request, response));
  server.requestTimeout = 0;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const record = await recordOf(request);
    if (record === null) return;
    requests.push(record);
    response.on('finish', () => {
      record.isFinished = true;
    });
    response.on('close', () => {
      record.isAborted = !record.isFinished;
    });
    response.on('error', () => undefined);
    const sent = record.headers[STEP_HEADER];
    const step: MockStep = typeof sent === 'string' ? JSON.parse(sent) : (queue.shift() ?? {});
    await answer(record, step, response);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    next: (...steps) => void queue.push(...steps),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function recordOf(request: IncomingMessage): Promise<MockRequest | null> {
  const parts: Buffer[] = [];
  try {
    for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  } catch {
    return null;
  }
  const { method = '', url: path = '', headers } = request;
  return { method, path, headers, body: Buffer.concat(parts), ...createSent(), isAborted: false, isFinished: false };
}

function createSent() {
  const kept: Buffer[] = [];
  let bytes = 0;
  return {
    addSent(part: Buffer): void {
      if (bytes < SENT_MAX_BYTES) kept.push(part);
      bytes += part.length;
    },
    sent: () => Buffer.concat(kept),
    sentBytes: () => bytes,
  };
}

async function answer(record: MockRequest, step: MockStep, response: ServerResponse): Promise<void> {
  if (step.hangs) return;
  if (step.firstByteMs !== undefined) await wait(step.firstByteMs);
  if (step.resets) {
    response.destroy();
    return;
  }
  if (step.redirect !== undefined) {
    response.writeHead(307, { location: step.redirect }).end();
    return;
  }
  const { status, headers, parts } = answerOf(record, step);
  response.writeHead(status, { ...headers, ...step.headers });
  // The head goes out before the body, as that of a provider that thinks.
  response.flushHeaders();
  if (step.breaksAfterBytes === 0) {
    response.destroy();
    return;
  }
  await write(response, { record, step, parts });
}

type Answer = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly parts: Iterable<Buffer>;
};

function answerOf(record: MockRequest, step: MockStep): Answer {
  const sent = jsonOf(record.body);
  const route = routeOf(record);
  if (route === null) return whole(404, errorOf('openai', 404));
  const isAnthropic = route === 'messages' || route === 'count-tokens' || route === 'models-anthropic';
  if (step.refusesStreamOptions && sent.stream_options !== undefined) return whole(400, errorOf('openai', 400));
  if (step.body !== undefined) return whole(step.status ?? 200, step.body);
  const status = step.status ?? 200;
  if (status >= 400) {
    const refusal = whole(status, errorOf(isAnthropic ? 'anthropic' : 'openai', status));
    return status === 429 ? { ...refusal, headers: { ...refusal.headers, 'retry-after': '2' } } : refusal;
  }
  if (step.hugeBytes !== undefined) return { status, headers: JSON_HEADERS, parts: hugeParts(step.hugeBytes) };
  const isStream = sent.stream === true || step.isEndless === true;
  const name = step.answer ?? usualAnswer(route, { isStream, wantsTools: step.tools === true });
  if (!name.includes('-stream')) return whole(status, withUsage(documentedBody(name), step));
  const events = eventsOf(name, { step, asksForUsage: sent.stream_options?.include_usage === true });
  return { status, headers: STREAM_HEADERS, parts: step.isEndless ? endlessParts(events) : events };
}

type SentBody = { readonly stream?: unknown; readonly stream_options?: { readonly include_usage?: unknown } };

function jsonOf(body: Buffer): SentBody {
  try {
    return Object(JSON.parse(body.toString()));
  } catch {
    return {};
  }
}

function routeOf({ method, path, headers }: MockRequest): string | null {
  const { pathname } = new URL(path, 'http://provider');
  if (method === 'GET' && pathname.endsWith('/models')) {
    return headers['anthropic-version'] === undefined ? 'models-openai' : 'models-anthropic';
  }
  if (method !== 'POST') return null;
  if (pathname.endsWith('/chat/completions')) return 'chat';
  if (pathname.endsWith('/messages/count_tokens')) return 'count-tokens';
  const last = pathname.slice(pathname.lastIndexOf('/') + 1);
  return ['responses', 'embeddings', 'messages'].includes(last) ? last : null;
}

function usualAnswer(route: string, { isStream, wantsTools }: { isStream: boolean; wantsTools: boolean }): string {
  const mayStream = route === 'chat' || route === 'responses' || route === 'messages';
  if (isStream && mayStream) return `${route}-stream${wantsTools ? '-tools' : ''}`;
  return wantsTools && route === 'chat' ? 'chat-tools' : route;
}

function errorOf(dialect: 'openai' | 'anthropic', status: number): unknown {
  const errors = documentedBody(`errors-${dialect}`);
  return errors[status] ?? errors[500];
}

function whole(status: number, body: unknown): Answer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, headers: JSON_HEADERS, parts: [Buffer.from(text)] };
}

function withUsage(body: Record<string, unknown>, { usage }: MockStep): unknown {
  return usage === 'off' ? { ...body, usage: undefined } : body;
}

/** Streams of chat tell the usage only to callers who ask. */
function eventsOf(name: string, { step, asksForUsage }: { step: MockStep; asksForUsage: boolean }): readonly Buffer[] {
  const isChat = name.startsWith('chat');
  const tells = step.usage === 'off' ? false : !isChat || asksForUsage || step.usage === 'always';
  const stream = documentedStream(name).toString();
  const told = tells
    ? stream
    : isChat
      ? withoutUsage(stream)
      : stream.replaceAll(/,"usage":\{(?:[^{}]|\{[^{}]*\})*\}/g, '');
  return told.split(/(?<=\n\n)/).map((event) => Buffer.from(event));
}

/** A stream of chat without what tells the usage: what a caller sees who did not ask for it. */
export function withoutUsage(stream: string): string {
  return stream
    .split(/(?<=\n\n)/)
    .filter((event) => !event.includes('"choices":[],"usage":{'))
    .join('')
    .replaceAll(',"usage":null', '');
}

const TEXT_DELTA = /"content":"[^"]|"type":"text_delta"|output_text\.delta/;

function* endlessParts(events: readonly Buffer[]): Iterable<Buffer> {
  const repeatedAt = events.findIndex((event) => TEXT_DELTA.test(event.toString()));
  yield* events.slice(0, repeatedAt);
  for (;;) yield* events.slice(repeatedAt, repeatedAt + 1);
}

const HUGE_PART = Buffer.alloc(65_536, 'x');

function* hugeParts(bytes: number): Iterable<Buffer> {
  const [head = '', tail = ''] = JSON.stringify(documentedBody('chat')).split('Grüße aus 京都');
  yield Buffer.from(head);
  for (let left = bytes; left > 0; left -= HUGE_PART.length) yield HUGE_PART.subarray(0, left);
  yield Buffer.from(tail);
}

type Writing = { readonly record: MockRequest; readonly step: MockStep; readonly parts: Iterable<Buffer> };

/** With back-pressure: a caller that does not read stops it. */
async function write(response: ServerResponse, { record, step, parts }: Writing): Promise<void> {
  const { betweenMs, breaksAfterBytes = Number.POSITIVE_INFINITY } = step;
  for (const part of cutAll(parts, step.partBytes)) {
    if (response.destroyed) return;
    if (betweenMs !== undefined && record.sentBytes() > 0) await wait(betweenMs);
    const sent = part.subarray(0, breaksAfterBytes - record.sentBytes());
    record.addSent(sent);
    const isDrained = response.write(sent);
    if (record.sentBytes() >= breaksAfterBytes) {
      // What was written reaches the caller before the connection breaks.
      await new Promise<void>((resolve) => response.write('', () => resolve()));
      response.destroy();
      return;
    }
    if (!isDrained) await drained(response);
  }
  response.end();
}

function* cutAll(parts: Iterable<Buffer>, bytes: number | undefined): Iterable<Buffer> {
  for (const part of parts) {
    const length = bytes ?? part.length;
    for (let at = 0; at < part.length; at += length) yield part.subarray(at, at + length);
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}
