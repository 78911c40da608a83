import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { hex, llmTrace } from '../support/fixtures.ts';
import { drawSeed, inParallel, report, seeded } from '../support/scenario.ts';
import { type Body, callRest } from '../support/surfaces.ts';

const NOW = Date.now();
let app: TestApp;
beforeAll(async () => {
  // Keeps the log short: log lines for refusals are tested elsewhere.
  app = await startApp({ writer: 'in its thread', environment: { SPANDREL_LOG_LEVEL: 'info' } });
});
afterAll(async () => {
  await app.close();
});

const project = () => ({ 'x-auth-token': app.projectKey });
const collect = (body: string | Uint8Array<ArrayBuffer>, headers: object = {}) =>
  fetch(`${app.address}/api/collector`, {
    method: 'POST',
    headers: { ...project(), 'content-type': 'application/json', ...headers },
    body,
  });

async function alive(): Promise<void> {
  expect((await collect(JSON.stringify(llmTrace(NOW)))).status).toBe(200);
}

const KEYS = 100_000;

const AHEAD = 16;

/** Pipelines requests on one connection; when the server closes it, continues on a new one. */
async function keepSending(onStatus: (status: number) => void, next: () => Buffer | null): Promise<void> {
  const waiting: Buffer[] = [];
  const fill = () => {
    for (let request = next(); request !== null; request = next()) if (waiting.push(request) === AHEAD) break;
    return Buffer.concat(waiting);
  };
  for (let sent = fill(); sent.length > 0; sent = fill()) {
    const socket = connect(app.port, '127.0.0.1', () => socket.write(sent));
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      for (let answer = cutAnswer(received); answer !== null; answer = cutAnswer(received)) {
        onStatus(answer.status);
        received = received.slice(answer.length);
        waiting.shift();
        if (answer.isLast) return void socket.destroy();
      }
      if (waiting.length > 0) return;
      const more = fill();
      if (more.length > 0) socket.write(more);
      else socket.destroy();
    });
    socket.on('error', () => onStatus(0));
    await new Promise((resolve) => socket.on('close', resolve));
  }
}

/** Cuts the first answer off the bytes of a connection; null if it is incomplete. */
function cutAnswer(
  received: string,
): { readonly status: number; readonly length: number; readonly isLast: boolean } | null {
  const end = received.indexOf('\r\n\r\n') + 4;
  const head = received.slice(0, end);
  const length = end + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
  if (end < 4 || received.length < length) return null;
  return { status: Number(received.slice(9, 12)), length, isLast: /connection: close/i.test(head) };
}

/** Sends a raw request; resolves to the status, or 0 if the connection was cut without one. */
function rawStatus(request: Buffer): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(app.port, '127.0.0.1', () => socket.write(request));
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const status = /^HTTP\/1\.1 (\d{3})/.exec(received);
      if (status) {
        socket.destroy();
        resolve(Number(status[1]));
      }
    });
    socket.on('error', () => resolve(0));
    socket.on('close', () => resolve(0));
  });
}

describe('malformed credentials', () => {
  it('K3: none of many malformed keys is an error of the server', async () => {
    const seed = drawSeed();
    const random = seeded(seed);
    const pick = (text: string) => text[Math.floor(random() * text.length)] ?? '';
    const any = (length: number, alphabet: string) => {
      let text = '';
      while (text.length < length) text += pick(alphabet);
      return text;
    };
    const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const makers: readonly (() => string)[] = [
      () => any(1 + Math.floor(random() * 700), `${base62}_-`),
      () => `sk-lw-${any(48, base62)}`,
      () => `sk-lw-${any(16, base62)}_${any(48, base62)}`,
      () => `sk-lw-${any(16, base62)}_${any(47, base62)}_`,
      () => any(40, 'é€ß\x80\xff ,;="\'\\'),
      () => `${any(10, base62)}, ${any(10, base62)}`,
      () => `Basic ${any(20, base62)}`,
    ];
    const request = (name: string, value: string) =>
      Buffer.from(`GET /api/webhooks/v1/events?from=0&to=1 HTTP/1.1\r\nhost: x\r\n${name}: ${value}\r\n\r\n`, 'latin1');
    const counts = new Map<number, number>();
    const count = (status: number) => counts.set(status, (counts.get(status) ?? 0) + 1);
    const lines = Array.from({ length: 32 }, (_, index) => index);
    await inParallel(lines, lines.length, async (line) => {
      let index = line;
      await keepSending(count, () => {
        index += lines.length;
        if (index >= KEYS + lines.length) return null;
        const value = (makers[index % makers.length] as () => string)();
        return request(index % 2 === 0 ? 'authorization' : 'x-auth-token', index % 3 === 0 ? `Bearer ${value}` : value);
      });
    });
    for (const value of ['a\0b', 'a\r\nx: y', `${'k'.repeat(20_000)}`]) {
      count(await rawStatus(request('x-auth-token', value)));
    }
    const broken = [...counts].filter(([status]) => status >= 500 || status === 0 || status === 200);
    report({ id: 'K3', seed, n: KEYS + 3, pass: broken.length === 0 });
    expect(broken).toEqual([]);
    expect(counts.get(401)).toBeGreaterThan(KEYS * 0.9);
    await alive();
    // The timeout must allow for many requests on a busy machine.
  });

  it('a token split over two headers, or sent in the query, is not a credential', async () => {
    const half = app.projectKey.slice(0, 30);
    const split = await callRest(app.address, {
      path: '/api/traces/t',
      headers: { 'x-auth-token': half, authorization: `Bearer ${app.projectKey.slice(30)}` },
    });
    expect(split.status).toBe(401);
    const query = await callRest(app.address, { path: `/api/traces/t?x-auth-token=${app.projectKey}` });
    expect(query.body.code).toBe('missing_credentials');
  });
});

describe('objects where scalars belong', () => {
  it('K5: operators and prototypes are data or refused, and never match', async () => {
    const hostile: readonly unknown[] = [
      { $ne: '' },
      { $gt: '' },
      [''],
      ['a', 'b'],
      { toString: 'x' },
      JSON.parse('{"__proto__":{"admin":true}}'),
    ];
    let broken = 0;
    for (const value of hostile) {
      const bodies = [
        { trace_id: value, spans: [{ span_id: 's', type: 'span', timestamps: { started_at: NOW, finished_at: NOW } }] },
        {
          trace_id: hex(32),
          spans: [{ span_id: value, type: 'span', timestamps: { started_at: NOW, finished_at: NOW } }],
        },
        {
          trace_id: hex(32),
          spans: [{ span_id: 's', type: value, timestamps: { started_at: NOW, finished_at: NOW } }],
        },
      ];
      const [traceId, parent] = [hex(32), value];
      const child = {
        trace_id: traceId,
        spans: [{ span_id: 's', type: 'span', parent_id: parent, timestamps: { started_at: NOW, finished_at: NOW } }],
      };
      const stored = await callRest(app.address, {
        verb: 'POST',
        path: '/api/collector',
        body: child,
        headers: project(),
      });
      const read = await callRest(app.address, { path: `/api/traces/${traceId}`, headers: project() });
      if (stored.body.partialSuccess?.errorMessage === '' || read.body.spans?.[0].parent_id !== null) broken += 1;
      for (const body of bodies) {
        const answer = await callRest(app.address, { verb: 'POST', path: '/api/collector', body, headers: project() });
        if (answer.status !== 400) broken += 1;
      }
      const named = await callRest(app.address, {
        verb: 'POST',
        path: '/api/evaluators',
        body: { name: value, config: { evaluatorType: 'ragas/bleu_score' } },
        headers: project(),
      });
      if (named.status !== 422) broken += 1;
    }
    for (const query of ['from[$ne]=1&to=2', 'from=1&to[]=2', '__proto__=1&from=2', 'constructor=1&to=2']) {
      const answer = await callRest(app.address, {
        path: `/api/webhooks/v1/events?${query}`,
        headers: { authorization: `Bearer ${app.adminKey}` },
      });
      if (answer.status !== 400) broken += 1;
    }
    for (const id of ['__proto__', 'constructor', 'toString', '%7B%22$ne%22:%22%22%7D']) {
      for (const path of ['/api/traces/', '/api/v1/evaluators/']) {
        const answer = await callRest(app.address, { path: path + id, headers: project() });
        if (answer.status !== 404) broken += 1;
      }
    }
    report({ id: 'K5', seed: 0, n: hostile.length * 5 + 12, pass: broken === 0 });
    expect(broken).toBe(0);
  });

  it('names of the prototype are plain data in free-form objects', async () => {
    const metadata = JSON.parse('{"__proto__":{"a":1},"constructor":"c","toString":[1],"user_id":"u"}');
    const params = JSON.parse('{"__proto__":1,"hasOwnProperty":2}');
    const body = { ...llmTrace(NOW), metadata };
    const [span] = body.spans;
    await callRest(app.address, {
      verb: 'POST',
      path: '/api/collector',
      body: { ...body, spans: [{ ...span, params }] },
      headers: project(),
    });
    const { text, body: trace } = await callRest(app.address, {
      path: `/api/traces/${body.trace_id}`,
      headers: project(),
    });
    expect(JSON.stringify(trace.spans[0].params)).toBe(JSON.stringify(params));
    expect(trace.metadata).toEqual(metadata);
    expect(text).toContain('"__proto__":{"a":1}');
  });
});

describe('hostile JSON', () => {
  const inside = (value: string) =>
    `{"trace_id":"${hex(32)}","spans":[{"span_id":"s","type":"span","timestamps":{"started_at":${NOW},"finished_at":${NOW}},"params":{"v":${value}}}]}`;
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

  const cases: readonly (readonly [string, () => string, number, (body: Body) => void])[] = [
    [
      'a free value of 64 levels is stored',
      () => inside(nested(63)),
      200,
      (body) => expect(body.partialSuccess.rejectedSpans).toBe(0),
    ],
    [
      'a free value of 65 levels rejects the item',
      () => inside(nested(64)),
      400,
      (body) => expect(body.message).toContain('nested deeper than 64 levels'),
    ],
    [
      '100 levels reject the item',
      () => inside(nested(100)),
      400,
      (body) => expect(body.code).toBe('validation_error'),
    ],
    [
      '5,000 levels are refused',
      () => inside(nested(5_000)),
      400,
      (body) => expect(body.code).toBe('malformed_request'),
    ],
    [
      'a million levels are refused',
      () => inside(nested(1_000_000)),
      400,
      (body) => expect(body.code).toBe('malformed_request'),
    ],
    ['10^400 is refused', () => inside('1e400'), 400, (body) => expect(body.code).toBe('malformed_request')],
    [
      '400 digits are refused',
      () => inside('9'.repeat(400)),
      400,
      (body) => expect(body.code).toBe('malformed_request'),
    ],
    ['a lone surrogate is stored as U+FFFD', () => inside('"\\ud800"'), 200, () => undefined],
  ];

  it.each(cases)('X3: %s', async (_name, make, status, check) => {
    const text = make();
    const startedMs = performance.now();
    const answer = await collect(text);
    const tookMs = performance.now() - startedMs;
    const body: Body = await answer.json();
    report({ id: 'X3', seed: 0, n: 1, p99: Math.round(tookMs), pass: answer.status === status });
    expect(answer.status, JSON.stringify(body)).toBe(status);
    check(body);
    await alive();
  });

  it('X3: a million keys are stored or refused, and the server lives', async () => {
    const text = inside(`{${Array.from({ length: 500_000 }, (_, index) => `"k${index}":1`).join(',')}}`);
    const answer = await collect(text);
    expect([200, 400, 413]).toContain(answer.status);
    await alive();
  });

  it('a lone surrogate reads back as U+FFFD and 20 digits keep every digit', async () => {
    const traceId = hex(32);
    const text = `{"trace_id":"${traceId}","spans":[{"span_id":"s","type":"span","timestamps":{"started_at":${NOW},"finished_at":${NOW}},"params":{"a":"\\udc00","n":12345678901234567890,"nul":"\\u0000"}}]}`;
    expect((await collect(text)).status).toBe(200);
    const answer = await callRest(app.address, { path: `/api/traces/${traceId}`, headers: project() });
    expect(answer.text).toContain('"params":{"a":"\uFFFD","n":12345678901234567890,"nul":"\\u0000"}');
  });
});
