import { once } from 'node:events';
import { Agent as HttpAgent, get as httpGet } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { get as httpsGet } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { GOOD, startPort, TLS, until } from '../support/port.ts';

const RPC = '/spandrel.v1.TraceService/GetTrace';

describe.each([false, true])('a drain (TLS: %s)', (tls) => {
  /** Requests over every protocol, held until `release` is called. */
  async function startBusy() {
    const gate = Promise.withResolvers<void>();
    let running = 0;
    const hold = async () => {
      running += 1;
      await gate.promise;
      return {};
    };
    const port = await startPort({
      tls,
      serve: hold,
      fallback: (_, response) => void hold().then(() => response.end('rest')),
    });
    const session = connectHttp2(port.address, { ca: TLS.cert });
    const overHttp2 = async (path: string, type: string) => {
      const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': type, ...GOOD });
      stream.end(Buffer.alloc(5));
      const [headers] = await once(stream, 'response');
      await stream.toArray();
      return headers[':status'];
    };
    const overHttp1 = async (path: string) => {
      const get = tls ? httpsGet : httpGet;
      const [response] = await once(get(port.address + path, { ca: TLS.cert }), 'response');
      await response.toArray();
      return response.headers.connection;
    };
    const answers = Promise.all([
      overHttp1('/a'),
      overHttp1('/b'),
      overHttp2('/c', 'text/plain'),
      overHttp2(RPC, 'application/grpc'),
    ]);
    await until(() => running === 4, 'all requests run');
    return { port, answers, session, release: gate.resolve };
  }

  it('lets every request in progress have its answer, and ends their connections', async () => {
    const { port, answers, session, release } = await startBusy();
    const drained = port.drain(10_000);
    await expect(fetch(port.address)).rejects.toThrow();
    release();
    expect(await answers).toEqual(['close', 'close', 200, 200]);
    await drained;
    await until(() => session.destroyed, 'the session has ended');
  });

  it('ends at its deadline, even while requests run', async () => {
    const { port, answers } = await startBusy();
    answers.catch(() => {});
    const startedMs = performance.now();
    await port.drain(300);
    expect(performance.now() - startedMs).toBeLessThan(20_000);
    await expect(answers).rejects.toThrow();
  });
});

it('a drain leaves connections at rest a moment, then ends them', async () => {
  const port = await startPort();
  const agent = new HttpAgent({ keepAlive: true });
  const [response] = await once(httpGet(`${port.address}/`, { agent }), 'response');
  await response.toArray();
  const session = connectHttp2(port.address);
  await once(session, 'remoteSettings');
  const silent = connectTcp(port.port, '127.0.0.1').resume();
  await once(silent, 'connect');
  const drained = port.drain(10_000);
  // The server still answers requests sent when the drain began.
  const [late] = await once(httpGet(`${port.address}/late`, { agent }), 'response');
  expect(late.statusCode).toBe(200);
  expect(late.headers.connection).toBe('close');
  await late.toArray();
  const startedMs = performance.now();
  await drained;
  expect(performance.now() - startedMs).toBeLessThan(9_000);
  await until(() => session.destroyed && silent.destroyed, 'both have ended');
  agent.destroy();
});

const same = (bytes: Buffer) => bytes;

it('a drain under load resets no accepted request, over HTTP/1.1 and gRPC', async () => {
  for (let round = 0; round < 3; round += 1) {
    const port = await startPort({ serve: () => new Promise((resolve) => setTimeout(resolve, 5, {})) });
    const tally = { answered: 0, refused: 0, broken: [] as string[] };
    let going = true;
    const agent = new HttpAgent({ keepAlive: true });
    const http1 = async () => {
      while (going) {
        try {
          const request = httpGet(`${port.address}/`, { agent });
          const [response] = await once(request, 'response');
          await response.toArray();
          tally.answered += 1;
        } catch (error) {
          const { code = String(error) } = error as NodeJS.ErrnoException;
          if (code === 'ECONNREFUSED') return;
          tally.broken.push(code);
        }
      }
    };
    const grpc = async () => {
      const client = new Client(`127.0.0.1:${port.port}`, credentials.createInsecure(), {
        'grpc.use_local_subchannel_pool': 1,
      });
      const metadata = new Metadata();
      metadata.set('authorization', GOOD.authorization);
      while (going) {
        const error = await new Promise<ServiceError | null>((resolve) => {
          client.makeUnaryRequest(RPC, same, same, Buffer.alloc(0), metadata, {}, (failure) => resolve(failure));
        });
        if (error === null) tally.answered += 1;
        else if (/ECONNREFUSED/.test(error.details)) break;
        else tally.broken.push(error.message);
      }
      client.close();
    };
    const clients = [...Array.from({ length: 16 }, http1), ...Array.from({ length: 16 }, grpc)];
    await until(() => tally.answered > 300, 'the load runs');
    await port.drain(10_000);
    going = false;
    await Promise.all(clients);
    expect(tally.broken).toEqual([]);
    agent.destroy();
  }
});
