import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { toFault } from '../../src/rpc/invoke.ts';
import { createGrpc } from '../../src/transport/grpc.ts';
import { listen } from '../../src/transport/server.ts';
import { startApp } from '../support/app.ts';
import { createCallParts, METHODS, until } from '../support/port.ts';

const PATH = '/spandrel.v1.TraceService/GetTrace';
const IN_FLIGHT_MAX = 8;
const HEADERS = { ':method': 'POST', ':path': PATH, 'content-type': 'application/grpc', te: 'trailers' };

/** Sends headers that announce a message, then an empty frame that ends the call. */
async function endEarly(session: ReturnType<typeof connectHttp2>, headers: object): Promise<unknown> {
  const stream = session.request({ ...HEADERS, ...headers }, { endStream: false });
  stream.end();
  stream.resume();
  const [answered] = await once(stream, 'response', { signal: AbortSignal.timeout(5_000) });
  return answered['grpc-status'];
}

it('a gRPC call that ends without a message before its caller is known is answered, and keeps no slot', async () => {
  const app = await startApp({
    writer: 'in its thread',
    environment: { SPANDREL_MAX_INFLIGHT: String(IN_FLIGHT_MAX) },
  });
  onTestFinished(() => app.close());
  const session = connectHttp2(app.address);
  onTestFinished(() => session.destroy());
  for (let round = 0; round < 5 * IN_FLIGHT_MAX; round += 1) {
    expect(await endEarly(session, { 'x-auth-token': app.projectKey }), `round ${round}`).toBe('3');
  }
});

it('a gRPC call whose stream ended long before its message is read is answered', async () => {
  let inFlight = 0;
  const port = await listen(
    {
      host: '127.0.0.1',
      callerOf: () => null,
      port: 0,
      tls: null,
      limits: {
        headersTimeoutMs: 10_000,
        bodyGapTimeoutMs: 10_000,
        bodyTimeoutMs: 60_000,
        idleTimeoutMs: 75_000,
        streamsPerConnectionMax: 128,
        headerBytesMax: 16_384,
        requestLineBytesMax: 8_192,
        reconnectPenaltyMs: 0,
        connectionsMax: 100,
      },
      meter: { sessionCut: () => {}, connectionRefused: () => {} },
    },
    {
      http: (_, response) => void response.end(),
      grpc: createGrpc({
        ...createCallParts(),
        methods: METHODS,
        invoke: async (_method, _call, decode) => {
          inFlight += 1;
          try {
            // Longer than a read of the store takes.
            for (let count = 0; count < 50; count += 1) await turn();
            await decode();
            throw new Error('there was no message');
          } catch (error) {
            throw toFault(error);
          } finally {
            inFlight -= 1;
          }
        },
      }),
      refuse: () => ({ status: 400, headers: {}, body: '' }),
    },
  );
  onTestFinished(() => port.drain(0));
  const session = connectHttp2(port.address);
  onTestFinished(() => session.destroy());
  const statuses = await Promise.all(Array.from({ length: 50 }, () => endEarly(session, {})));
  expect(new Set(statuses)).toEqual(new Set(['3']));
  await until(() => inFlight === 0, 'every pipeline has ended');
});
