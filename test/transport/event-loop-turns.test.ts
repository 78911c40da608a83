/** Writing large answers and reading large bodies yields to other requests. */

import { expect, it, onTestFinished } from 'vitest';
import { buildResponseBody } from '../../src/transport/rest/response-body.ts';
import { GOOD, startPort } from '../support/port.ts';

const KIB = 1_024;
const ITEM = 'é'.repeat(64 * KIB);
const stay = () => {};

it('a small one is made at once', () => {
  const yieldToEventLoop = () => Promise.reject(new Error('no turn is needed'));
  expect(buildResponseBody([ITEM, 'x'].values(), { yieldToEventLoop, requireConnected: stay })).toEqual([`${ITEM}x`]);
});

it('a large response is encoded in parts, each in its own turn of the event loop', async () => {
  let written = 0;
  const writtenPerTurn: number[] = [];
  function* pieces() {
    for (let index = 0; index < 40; index += 1) {
      written += 1;
      yield ITEM;
    }
  }
  const yieldToEventLoop = async () => {
    writtenPerTurn.push(written);
    written = 0;
  };
  const body = await buildResponseBody(pieces(), { yieldToEventLoop, requireConnected: stay });
  expect(Math.max(...writtenPerTurn)).toBe(4);
  expect(body.join('')).toBe(ITEM.repeat(40));
});

it('a large response is not encoded further once its client disconnected', async () => {
  let written = 0;
  function* pieces() {
    for (;;) {
      written += 1;
      yield ITEM;
    }
  }
  const leave = () => {
    throw new Error('the caller left');
  };
  await expect(
    buildResponseBody(pieces(), { yieldToEventLoop: async () => {}, requireConnected: leave }),
  ).rejects.toThrow('left');
  expect(written).toBe(4);
});

it('arrives whole, packed and plain', async () => {
  const spans = Array.from({ length: 40 }, (_, index) => ({ spanId: `s${index}`, name: ITEM }));
  const serve = () => ({ view: { case: 'trace', value: { metadataJson: '{}', spans } } });
  const port = await startPort({ fallback: 'rest', serve });
  onTestFinished(() => port.drain(0));
  for (const encoding of ['identity', 'gzip']) {
    const headers = { ...GOOD, 'accept-encoding': encoding };
    const answer = await fetch(`${port.address}/api/traces/trace-1`, { headers });
    expect(answer.headers.get('content-encoding') ?? 'identity').toBe(encoding);
    const trace = (await answer.json()) as { readonly spans: readonly object[] };
    expect(trace.spans).toMatchObject(spans.map(({ spanId, name }) => ({ span_id: spanId, name })));
  }
});

it('a large body is parsed and validated in separate turns', async () => {
  let turns = 0;
  const yieldToEventLoop = async () => {
    turns += 1;
  };
  const port = await startPort({ fallback: 'rest', yieldToEventLoop });
  onTestFinished(() => port.drain(0));
  const send = async (name: string) => {
    const headers = { ...GOOD, 'content-type': 'application/json' };
    const sent = { method: 'POST', headers, body: JSON.stringify({ name }) };
    expect((await fetch(`${port.address}/api/api-keys`, sent)).status).toBe(201);
  };
  await send('small');
  expect(turns).toBe(0);
  await send('x'.repeat(400 * KIB));
  expect(turns).toBeGreaterThanOrEqual(2);
});
