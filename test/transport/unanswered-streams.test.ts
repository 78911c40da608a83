import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { expect, it, onTestFinished } from 'vitest';
import { GOOD, startPort, until } from '../support/port.ts';

const LIMITS = { headersTimeoutMs: 200, bodyGapTimeoutMs: 200, bodyTimeoutMs: 300, idleTimeoutMs: 200 };

it('a stream that is never answered is closed in the end', async () => {
  const port = await startPort({
    limits: LIMITS,
    serve: () => new Promise<object>(() => {}),
    fallback: () => {},
  });
  onTestFinished(() => port.drain(0));
  for (const headers of [
    { ':path': '/', 'content-type': 'text/plain' },
    { ':path': '/spandrel.v1.TraceService/GetTrace', 'content-type': 'application/grpc' },
  ]) {
    const session = connectHttp2(port.address);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ':method': 'POST', ...headers, ...GOOD });
    stream.on('error', () => {}).end(Buffer.alloc(5));
    const [answered] = await once(stream, 'response', { signal: AbortSignal.timeout(5_000) });
    expect(answered[':status'] === 408 || answered['grpc-status'] === '4').toBe(true);
    stream.resume();
    await until(() => stream.closed, 'the stream is closed');
  }
});

it('a request that may take long is answered later than an rpc', async () => {
  const port = await startPort({
    limits: { ...LIMITS, longAnswerTimeoutMs: 60_000 },
    serve: () => new Promise<object>(() => {}),
    fallback: (_, response) => void setTimeout(() => response.end(), 4 * LIMITS.bodyTimeoutMs + 500),
  });
  onTestFinished(() => port.drain(0));
  const session = connectHttp2(port.address);
  onTestFinished(() => session.destroy());
  const stream = session.request({ ':method': 'POST', ':path': '/v1/messages', ...GOOD });
  stream.end(Buffer.alloc(5));
  const [answered] = await once(stream, 'response', { signal: AbortSignal.timeout(10_000) });
  expect(answered[':status']).toBe(200);
});
