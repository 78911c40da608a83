import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { type SpawnedServer, spawnServer } from '../support/server.ts';
import { temporaryFolder, until } from '../support/temp.ts';
import { TEST_SECRET } from '../support/test-database.ts';

const CERTIFICATES = new URL('../support/tls/', import.meta.url).pathname;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(environment: { readonly [name: string]: string }): Promise<SpawnedServer> {
  const database = { SPANDREL_DATABASE_URL: 'sqlite::memory:', SPANDREL_SECRET: TEST_SECRET };
  const server = await spawnServer({ ...database, ...environment });
  cleanups.push(() => server.stop('SIGKILL'));
  return server;
}

/** The name in the certificate that a new connection gets. */
function servedName(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

function countOf(server: SpawnedServer, line: string): number {
  return server.output().split(line).length - 1;
}

describe('a server with TLS', () => {
  it('serves a renewed certificate without a restart, and again on SIGHUP', async () => {
    const folder = temporaryFolder();
    cleanups.push(folder.remove);
    const [cert, key] = [join(folder.path, 'live.crt'), join(folder.path, 'live.key')];
    const put = (name: string, ending: 'crt' | 'key') =>
      copyFileSync(join(CERTIFICATES, `${name}.${ending}`), ending === 'crt' ? cert : key);
    put('localhost', 'crt');
    put('localhost', 'key');
    const server = await start({ SPANDREL_TLS_CERT: cert, SPANDREL_TLS_KEY: key });
    expect(await servedName(server.port)).toBe('localhost');
    // Half of a renewal is not taken.
    put('renewed', 'crt');
    await until(() => countOf(server, 'the TLS files were not taken') === 1);
    expect(await servedName(server.port)).toBe('localhost');
    put('renewed', 'key');
    await until(async () => (await servedName(server.port)) === 'renewed');
    const before = countOf(server, 'the TLS files were read again');
    server.child.kill('SIGHUP');
    await until(() => countOf(server, 'the TLS files were read again') > before);
    expect(await servedName(server.port)).toBe('renewed');
    expect(await server.stop('SIGTERM')).toBe(0);
  });
});

it('SIGHUP ends no server without TLS', async () => {
  const server = await start({});
  server.child.kill('SIGHUP');
  await until(() => countOf(server, 'SIGHUP: there are no files to read again') === 1);
  expect((await fetch(`${server.address}/readyz`)).status).toBe(200);
  expect(await server.stop('SIGTERM')).toBe(0);
});
