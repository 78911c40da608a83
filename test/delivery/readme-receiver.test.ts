import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../support/temp.ts';

const ROOT = new URL('../../', import.meta.url);
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const BATCH = JSON.stringify({ batch: [{ id: 'evt_1', type: 'test.ping', data: {} }] });

let receiver: ChildProcess;
let port: number;
let printed = '';

const STARTED_WITHIN_MS = 30_000;

beforeAll(async () => {
  port = await findPort();
  const readme = readFileSync(new URL('README.md', ROOT), 'utf8');
  const [, code = ''] = /^cat > receiver\.mjs <<'EOF'\n(.*?)^EOF$/ms.exec(readme) ?? [];
  const adapted = code.replace('8080', String(port));
  receiver = spawn(process.execPath, ['--input-type=module', '--eval', adapted], {
    cwd: ROOT,
    env: { ...process.env, WEBHOOK_SECRET: SECRET },
  });
  for (const stream of [receiver.stdout, receiver.stderr]) {
    stream?.on('data', (text: Buffer) => {
      printed += text.toString();
    });
  }
  await until(isListening, STARTED_WITHIN_MS);
});
afterAll(async () => {
  if (receiver.exitCode === null && receiver.kill()) await once(receiver, 'exit');
});

function isListening(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: found } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return found;
}

async function send(headers: Record<string, string>, body = BATCH): Promise<number> {
  return (await fetch(`http://127.0.0.1:${port}/spandrel`, { method: 'POST', headers, body })).status;
}

function signed(): Record<string, string> {
  const at = new Date();
  return {
    'webhook-id': 'm1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(SECRET).sign('m1', at, BATCH),
  };
}

it('the receiver in the README takes what is signed and says so', async () => {
  expect(await send(signed())).toBe(204);
  await until(() => printed.includes('verified evt_1 test.ping'), STARTED_WITHIN_MS);
});

it('it answers 401 to anything else, and to missing or malformed headers', async () => {
  const { 'webhook-signature': _, ...unsigned } = signed();
  const others = [{}, unsigned, { ...signed(), 'webhook-timestamp': 'now' }, { ...signed(), 'webhook-signature': 'x' }];
  for (const headers of others) expect(await send(headers)).toBe(401);
  expect(await send(signed(), `${BATCH} `)).toBe(401);
});

it('it survives a connection that breaks within a body', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc', () => socket.destroy());
  await until(() => receiver.exitCode !== null || printed.includes('aborted'), STARTED_WITHIN_MS);
  expect(await send(signed())).toBe(204);
});
