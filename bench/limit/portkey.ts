/**
 * The peer of the rows of the gateway: @portkey-ai/gateway as npm has it, without a console. It takes its port from the
 * command line and says nowhere when it listens. Usage: node portkey.ts <folder where it is installed>
 */

import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { endWithParent, sayReady } from './ready.ts';

const POLL_MS = 20;

const port = await findPort();
const entry = join(String(process.argv[2]), 'node_modules/@portkey-ai/gateway/build/start-server.js');
process.env.NODE_ENV = 'production';
process.argv = [process.execPath, entry, `--port=${port}`, '--headless'];
await import(pathToFileURL(entry).href);
while (!(await isListening())) await delay(POLL_MS);
sayReady(port);
endWithParent();

function findPort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const address = probe.address();
    probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
  });
  return promise;
}

function isListening(): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ port, host: '127.0.0.1' });
  const end = (isOpen: boolean) => {
    socket.destroy();
    resolve(isOpen);
  };
  socket.on('connect', () => end(true)).on('error', () => end(false));
  return promise;
}
