import { once } from 'node:events';
import { chmodSync, cpSync, fsyncSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { examine } from '../../src/cli/doctor/doctor.ts';
import type { Machine } from '../../src/cli/doctor/machine.ts';
import { openDatabase } from '../../src/storage/engine/sqlite/schema.ts';
import { SQLITE_SCHEMAS } from '../../src/storage/migrations/sqlite.ts';
import { startIn } from '../support/installation.ts';
import { CLIENT, startIssuer } from '../support/issuer.ts';
import { ADMIN_KEY } from '../support/server.ts';
import { callRest } from '../support/surfaces.ts';
import { temporaryFolder } from '../support/temp.ts';
import { runCli, runCliProcess } from './run-cli.ts';

const root = temporaryFolder();
const origin = join(root.path, 'origin');
const TLS = new URL('../support/tls/', import.meta.url).pathname;
const GIB = 1024 ** 3;
const EXT4 = 0xef53;
const servers: Server[] = [];
let provider: string;

/** With a provider stored, as after some days of use. */
beforeAll(async () => {
  const answering = await serve((_, response) => response.writeHead(404).end());
  provider = new URL(answering).host;
  mkdirSync(origin);
  const app = await startIn(origin, { writer: 'in its thread', environment: { SPANDREL_GATEWAY_ALLOW: provider } });
  const body = { name: 'ours', kind: 'openai_compatible', base_url: `${answering}/v1` };
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const created = await callRest(app.address, {
    verb: 'POST',
    path: '/api/gateway/v1/model-providers',
    headers,
    body,
  });
  expect(created.status).toBe(201);
  await app.close();
});
afterEach(() => {
  for (const server of servers.splice(1)) server.close();
});
afterAll(() => {
  for (const server of servers) server.close();
  root.remove();
});

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type Patient = { environment: { [name: string]: string }; machine: Machine; readonly folder: string };
let patients = 0;

async function healthy(): Promise<Patient> {
  patients += 1;
  const folder = join(root.path, `patient-${patients}`);
  cpSync(origin, folder, { recursive: true });
  const llm = await serve((_, response) => response.end('{}'));
  return {
    folder,
    environment: {
      SPANDREL_PORT: '0',
      SPANDREL_DATABASE_URL: `sqlite:${join(folder, 'spandrel.db')}`,
      SPANDREL_GATEWAY_ALLOW: `${provider},127.0.0.1:2`,
      SPANDREL_LLM_BASE_URL: `${llm}/v1`,
      SPANDREL_LLM_API_KEY: 'sk-hidden',
    },
    machine: {
      nowMs: Date.now(),
      openFilesMax: 65_536,
      statfs: () => ({ type: EXT4, bsize: 4096, bavail: (100 * GIB) / 4096 }),
      fsync: fsyncSync,
    },
  };
}

async function look({ environment, machine }: Patient) {
  const findings = await examine(environment, machine);
  for (const { text } of findings) expect(text).not.toMatch(/\n|sk-hidden/);
  return findings.filter(({ level }) => level !== 'ok');
}

it('the doctor finds nothing on a healthy machine, before the first start, after it and beside a server', async () => {
  const patient = await healthy();
  expect(await look(patient)).toEqual([]);
  const empty = { ...patient.environment, SPANDREL_DATABASE_URL: `sqlite:${join(root.path, 'new/folder/new.db')}` };
  expect(await look({ ...patient, environment: empty })).toEqual([]);
  const app = await startIn(patient.folder, { writer: 'in its thread' });
  const beside = { ...patient.environment, SPANDREL_PORT: new URL(app.address).port };
  const found = await examine(beside, patient.machine);
  await app.close();
  expect(found.filter(({ level }) => level !== 'ok')).toEqual([]);
  expect(found.find(({ about }) => about === 'port')?.text).toMatch(/^a server runs on \d+: ready$/);
});

type Plant = (patient: Patient) => void | Promise<void>;
const set =
  (name: string, value: string): Plant =>
  ({ environment }) => {
    environment[name] = value;
  };
const give =
  (part: Partial<Machine>): Plant =>
  (patient) => {
    patient.machine = { ...patient.machine, ...part };
  };
const change =
  (sql: string): Plant =>
  ({ folder }) => {
    const db = new Database(join(folder, 'spandrel.db'));
    db.exec(sql);
    db.close();
  };
/** For waits that block, as a slow disk does. */
const pause = new Int32Array(new SharedArrayBuffer(4));

const mailServer = (url: string, allowed: string) => (patient: Patient) => {
  set('SPANDREL_SMTP_URL', url)(patient);
  set('SPANDREL_SMTP_FROM', 'alerts@example.com')(patient);
  set('SPANDREL_WEBHOOK_ALLOW', allowed)(patient);
};

const FAULTS: readonly (readonly [what: string, plant: Plant, level: string, about: string, text: RegExp])[] = [
  ['a misspelled setting', set('SPANDREL_PROT', '1'), 'fail', 'settings', /the nearest is SPANDREL_PORT/],
  ['a file of a secret that is not there', set('SPANDREL_SECRET_FILE', '/nowhere'), 'fail', 'settings', /ENOENT/],
  [
    'a network file system',
    give({ statfs: () => ({ type: 0x6969, bsize: 4096, bavail: GIB }) }),
    'fail',
    'file system',
    /use a local disk/,
  ],
  [
    'a full disk',
    give({ statfs: () => ({ type: EXT4, bsize: 4096, bavail: 1000 }) }),
    'fail',
    'disk space',
    /free some space/,
  ],
  ['a slow disk', give({ fsync: () => void Atomics.wait(pause, 0, 0, 60) }), 'warn', 'fsync', /use a faster disk/],
  [
    'a disk that does not sync',
    give({
      fsync: () => {
        throw new Error('EIO: i/o error, fsync');
      },
    }),
    'fail',
    'fsync',
    /EIO/,
  ],
  ['a low limit of open files', give({ openFilesMax: 1024 }), 'warn', 'open files', /LimitNOFILE/],
  ['a clock that was never set', give({ nowMs: 1000 }), 'fail', 'clock', /synchronise the clock/],
  [
    'a clock behind what is stored',
    change(`UPDATE installation SET trusted_at = ${Date.now() + 3_600_000}`),
    'fail',
    'clock',
    /is before what is stored/,
  ],
  [
    'a damaged database',
    ({ folder }) => writeFileSync(join(folder, 'spandrel.db'), 'x'.repeat(4096)),
    'fail',
    'database',
    /put a backup in its place/,
  ],
  [
    'a schema of a newer build',
    change(`INSERT INTO mikro_orm_migrations (name) VALUES ('9999-later')`),
    'fail',
    'database',
    /newer|build/,
  ],
  [
    'a schema that the next start changes',
    (patient) => {
      const file = join(patient.folder, 'older.db');
      openDatabase(file, { ...SQLITE_SCHEMAS, migrations: SQLITE_SCHEMAS.migrations.slice(0, -1) }).close();
      set('SPANDREL_DATABASE_URL', `sqlite:${file}`)(patient);
    },
    'warn',
    'schema',
    /back up before/,
  ],
  [
    'a secret file that others read',
    ({ folder }) => chmodSync(join(folder, 'secret'), 0o644),
    'fail',
    'secret',
    /chmod 600/,
  ],
  ['the secret of another database', set('SPANDREL_SECRET', 'x'.repeat(40)), 'fail', 'secret', /does not belong/],
  [
    'a port in use',
    async (patient) => set('SPANDREL_PORT', new URL(await serve((_, response) => response.end())).port)(patient),
    'fail',
    'port',
    /another program/,
  ],
  ['an address of another machine', set('SPANDREL_HOST', '192.0.2.1'), 'fail', 'port', /SPANDREL_HOST/],
  [
    'a key of another certificate',
    (patient) => {
      set('SPANDREL_TLS_CERT', `${TLS}localhost.crt`)(patient);
      set('SPANDREL_TLS_KEY', `${TLS}renewed.key`)(patient);
    },
    'fail',
    'TLS',
    /SPANDREL_TLS_KEY/,
  ],
  [
    'a policy that opens everything',
    set('SPANDREL_WEBHOOK_ALLOW', '0.0.0.0/0'),
    'warn',
    'address policy',
    /SPANDREL_WEBHOOK_ALLOW/,
  ],
  [
    'a destination without an address',
    set('SPANDREL_WEBHOOK_ALLOW', 'receiver.invalid'),
    'warn',
    'address policy',
    /does not resolve/,
  ],
  [
    'a model endpoint that is away',
    set('SPANDREL_LLM_BASE_URL', 'http://127.0.0.1:2/v1'),
    'fail',
    'LLM endpoint',
    /does not answer/,
  ],
  [
    'a model endpoint that refuses the key',
    async (patient) =>
      set('SPANDREL_LLM_BASE_URL', await serve((_, response) => response.writeHead(401).end()))(patient),
    'fail',
    'LLM endpoint',
    /SPANDREL_LLM_API_KEY/,
  ],
  [
    'a mail server that the policy refuses',
    mailServer('smtp://127.0.0.1:2', ''),
    'fail',
    'mail server',
    /SPANDREL_WEBHOOK_ALLOW/,
  ],
  [
    'a mail server that is away',
    mailServer('smtp://127.0.0.1:2', '127.0.0.1'),
    'fail',
    'mail server',
    /SPANDREL_SMTP_URL/,
  ],
  [
    'a provider that the policy refuses',
    set('SPANDREL_GATEWAY_ALLOW', ''),
    'fail',
    'provider ours',
    /SPANDREL_GATEWAY_ALLOW/,
  ],
  [
    'a provider that is away',
    change(`UPDATE model_providers SET base_url = 'http://127.0.0.1:2/v1'`),
    'warn',
    'provider ours',
    /does not answer/,
  ],
];

it.each(FAULTS)('the doctor finds %s, and nothing else', async (_, plant, level, about, text) => {
  const patient = await healthy();
  await plant(patient);
  const findings = await look(patient);
  expect(findings).toEqual([{ level, about, text: expect.stringMatching(text) }]);
});

it('prints a line for each finding, and exits with 1 if a start would be refused', async () => {
  const { environment, folder } = await healthy();
  const { code, stdout, stderr } = await runCliProcess(['doctor'], environment);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const line of stdout.trimEnd().split('\n')) expect(line).toMatch(/^(ok {4}|warn {2})[A-Za-z]+/);
  writeFileSync(join(dirname(folder), 'a-file'), '');
  const broken = { ...environment, SPANDREL_DATABASE_URL: `sqlite:${join(dirname(folder), 'a-file', 'spandrel.db')}` };
  const failed = await runCli(['doctor'], broken);
  expect(failed.code).toBe(1);
  expect(failed.stdout).toMatch(/^fail {2}data folder .* a part of its path is not a folder/m);
  expect(failed.stderr).toMatch(/^spandrel: \d+ of \d+ checks failed\n$/);
});

it('the doctor looks at the issuer of sign-ins, and whether it knows where people come back to', async () => {
  const publicUrl = 'http://127.0.0.1:5560';
  const issuer = await startIssuer(`${publicUrl}/api/auth/callback`);
  try {
    const patient = await healthy();
    Object.assign(patient.environment, {
      SPANDREL_PUBLIC_URL: publicUrl,
      SPANDREL_OIDC_ISSUER: issuer.url,
      SPANDREL_OIDC_CLIENT_ID: CLIENT.id,
      SPANDREL_OIDC_CLIENT_SECRET: 'sk-hidden',
    });
    expect(await look(patient)).toEqual([]);
    patient.environment.SPANDREL_PUBLIC_URL = 'http://127.0.0.1:5561';
    expect(await look(patient)).toMatchObject([
      { level: 'warn', about: 'sign-in', text: expect.stringMatching(/\(400\): register http:\/\/127.0.0.1:5561\//) },
    ]);
    patient.environment.SPANDREL_OIDC_ISSUER = `${issuer.url}/another`;
    expect(await look(patient)).toMatchObject([{ level: 'fail', about: 'sign-in' }]);
    const strange = await serve((_, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ issuer: 'https://issuer.example' }));
    });
    patient.environment.SPANDREL_OIDC_ISSUER = strange;
    expect(await look(patient)).toMatchObject([{ level: 'fail', about: 'sign-in' }]);
  } finally {
    await issuer.close();
  }
});
