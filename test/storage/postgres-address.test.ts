import { once } from 'node:events';
import { connect as connectTo, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectionOf, settleEncryption } from '../../src/storage/engine/postgres/address.ts';
import { openStore, pendingMigrations, StartError } from '../../src/storage/open.ts';
import { startProxy } from '../support/proxy.ts';
import { createPostgresTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { startTlsGateway, type TlsGateway } from '../support/tls-gateway.ts';
import { startTransactionPooler } from '../support/transaction-pooler.ts';
import { quietLog } from './quiet-log.ts';

const AUTHORITY = new URL('../support/tls/localhost.crt', import.meta.url).pathname;

let database: TestDatabase;
const cleanups: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  database = await createPostgresTestDatabase();
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  await database.remove();
});

function addressOf(query: string, { host, port }: { host?: string; port?: number } = {}): string {
  const url = new URL(database.url);
  if (host !== undefined) url.hostname = host;
  if (port !== undefined) url.port = String(port);
  return `${url.href}?${query}`;
}

/** Empty when the database can be used. */
async function refusalOf(url: string): Promise<string> {
  try {
    await pendingMigrations(url);
    return '';
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    expect(error.message).not.toMatch(/\n|postgres:\/\//);
    return error.message;
  }
}

async function gateway(open: 'served' | 'refused'): Promise<TlsGateway> {
  const started = await startTlsGateway(database.url, open);
  cleanups.push(started.close);
  return started;
}

describe('sslmode', () => {
  it.each(['allow', 'prefer', 'disable'])('%s connects to a server without TLS', async (mode) => {
    expect(await refusalOf(addressOf(`sslmode=${mode}`))).toBe('');
  });

  it.each(['require', 'verify-full'])('%s refuses a server without TLS', async (mode) => {
    expect(await refusalOf(addressOf(`sslmode=${mode}`))).toContain('does not support SSL');
  });

  it.each(['bogus', 'Prefer', 'prefer '])('%j is refused by name', async (mode) => {
    expect(await refusalOf(addressOf(`sslmode=${encodeURIComponent(mode)}`))).toContain('unknown sslmode');
  });

  it('prefer encrypts where the server can, with any certificate', async () => {
    const { port, seen } = await gateway('served');
    expect(await refusalOf(addressOf('sslmode=prefer', { port, host: '127.0.0.2' }))).toBe('');
    expect(seen).toMatchObject({ open: 0, encrypted: expect.any(Number) });
  });

  it('allow encrypts only where the server insists', async () => {
    const served = await gateway('served');
    expect(await refusalOf(addressOf('sslmode=allow', { port: served.port }))).toBe('');
    expect(served.seen.encrypted).toBe(0);
    const refused = await gateway('refused');
    expect(await refusalOf(addressOf('sslmode=allow', { port: refused.port }))).toBe('');
    expect(refused.seen.encrypted).toBeGreaterThan(0);
  });

  it('verify-full checks the name or the address that was given', async () => {
    const { port } = await gateway('served');
    const query = `sslmode=verify-full&sslrootcert=${AUTHORITY}`;
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
      expect(await refusalOf(addressOf(query, { port, host })), host).toBe('');
    }
    expect(await refusalOf(addressOf(query, { port, host: '127.0.0.2' }))).toContain('IP: 127.0.0.2');
  });

  it('verify-ca checks the authority alone, and needs one', async () => {
    const { port } = await gateway('served');
    const host = '127.0.0.2';
    expect(await refusalOf(addressOf(`sslmode=verify-ca&sslrootcert=${AUTHORITY}`, { port, host }))).toBe('');
    expect(await refusalOf(addressOf('sslmode=verify-ca', { port, host }))).toContain('sslrootcert');
  });

  it.each(['sslmode=verify-full', 'sslmode=require', 'ssl=true'])('%s refuses an unknown authority', async (query) => {
    const { port } = await gateway('served');
    expect(await refusalOf(addressOf(query, { port }))).toContain('self-signed certificate');
  });

  it('and all other members of the address are kept', async () => {
    const url = addressOf('options=-c%20search_path%3Da&sslmode=prefer');
    const settled = await settleEncryption(url);
    expect(settled).not.toBe(url);
    const { connectionString = '', ssl } = connectionOf(settled);
    expect(ssl).toBe(false);
    expect(new URL(connectionString).searchParams.get('options')).toBe('-c search_path=a');
  });
});

describe('sslrootcert', () => {
  it('system means the authorities of this machine', () => {
    const { ssl } = connectionOf(addressOf('sslrootcert=system'));
    expect(ssl).toMatchObject({ ca: expect.arrayContaining([expect.stringContaining('BEGIN CERTIFICATE')]) });
  });

  it('that is missing is named', async () => {
    expect(await refusalOf(addressOf('sslmode=verify-full&sslrootcert=/no/such.pem'))).toMatch(
      /^the file of sslrootcert cannot be read: ENOENT/,
    );
  });
});

it('a pooler in transaction mode is refused', async () => {
  const pooler = await startTransactionPooler(database.url);
  cleanups.push(pooler.close);
  expect(await refusalOf(pooler.url)).toContain('pooler in transaction mode');
});

describe('a start while the database is away', () => {
  it('waits as long as it was told to', async () => {
    const proxy = await startProxy(database.url);
    await proxy.close();
    const open = (waitMaxMs: number) =>
      openStore({ url: proxy.url, waitMaxMs, queueMaxBytes: 1024 * 1024, log: quietLog });
    await expect(open(0)).rejects.toThrow(/ECONNREFUSED/);
    await expect(open(1)).rejects.toThrow(/ECONNREFUSED/);
    const waiting = open(60_000);
    // Listens where nothing did before.
    const server = createServer((socket) => {
      const { port, hostname } = new URL(database.url);
      const target = socket.pipe(connectTo(Number(port), hostname));
      target.pipe(socket);
      for (const each of [socket, target]) each.on('error', () => undefined);
    });
    await once(server.listen(Number(new URL(proxy.url).port), '127.0.0.1'), 'listening');
    const store = await waiting;
    await store.ready();
    await store.close();
    await new Promise((resolve) => server.close(resolve));
  });

  it('does not wait for what no time mends', async () => {
    const url = new URL(database.url);
    url.password = 'wrong';
    const options = { waitMaxMs: 600_000, queueMaxBytes: 1024 * 1024, log: quietLog };
    await expect(openStore({ url: url.href, ...options })).rejects.toThrow(/password authentication failed/);
  });
});
