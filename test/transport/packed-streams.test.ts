import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ writer: 'in its thread' });
});
afterAll(async () => {
  await app.close();
});

const EVALUATORS = '/api/evaluators';
const headersOf = (more: object = {}) => ({ 'x-auth-token': app.projectKey, ...more });

async function read(more: object) {
  const [response] = (await once(get(app.address + EVALUATORS, { headers: headersOf(more) }), 'response')) as [
    IncomingMessage,
  ];
  return { headers: response.headers, bytes: Buffer.concat(await response.toArray()) };
}

async function makeEvaluator(index: number): Promise<void> {
  const answer = await fetch(app.address + EVALUATORS, {
    method: 'POST',
    headers: headersOf({ 'content-type': 'application/json' }),
    body: JSON.stringify({ name: `Evaluator ${index}`, config: { evaluatorType: 'langevals/exact_match' } }),
  });
  expect(answer.status, await answer.text()).toBeLessThan(300);
}

it('a list that is written in parts is compressed on request, from 1 KiB on', async () => {
  const small = await read({ 'accept-encoding': 'gzip' });
  expect(small.headers['content-encoding']).toBeUndefined();
  expect(small.bytes.toString()).toBe('[]');
  for (let index = 0; index < 150; index += 1) await makeEvaluator(index);

  const plain = await read({});
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(JSON.parse(plain.bytes.toString())).toHaveLength(150);
  const packed = await read({ 'accept-encoding': 'gzip' });
  expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
  expect(gunzipSync(packed.bytes)).toEqual(plain.bytes);
  expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 2);

  const session = connectHttp2(app.address);
  const stream = session.request({ ':path': EVALUATORS, ...headersOf({ 'accept-encoding': 'gzip' }) });
  const [answered] = await once(stream, 'response');
  expect(answered['content-encoding']).toBe('gzip');
  expect(gunzipSync(Buffer.concat(await stream.toArray()))).toEqual(plain.bytes);
  session.destroy();
});
