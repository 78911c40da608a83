import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { temporaryFolder } from '../support/temp.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());
let files = 0;

function fileWith(text: string): string {
  files += 1;
  const path = join(folder.path, `file-${files}`);
  writeFileSync(path, text);
  return path;
}

function problemsOf(environment: { [name: string]: string }): readonly string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

const SECRET = 'one#secret of the size that it must have';
const PROJECT_KEY = `sk-lw-${'A'.repeat(42)}2fwxgK`;
const ADMIN_KEY = `sk-lw-${'B'.repeat(16)}_${'0'.repeat(42)}1CtB1C`;

it('every secret may stand in a file', () => {
  const secrets = {
    SPANDREL_SECRET: SECRET,
    SPANDREL_DATABASE_URL: 'postgres://u:p@h/d',
    SPANDREL_BOOTSTRAP_PROJECT_KEY: PROJECT_KEY,
    SPANDREL_BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
    SPANDREL_LLM_API_KEY: 'sk-1',
    SPANDREL_SECRET_PREVIOUS: 'p'.repeat(32),
  };
  const inFiles = Object.entries(secrets).map(([name, value]) => [`${name}_FILE`, fileWith(`${value}\n`)]);
  expect(readConfig(Object.fromEntries(inFiles))).toEqual(readConfig(secrets));
  expect(readConfig(secrets).secrets?.current).toBe(SECRET);
});

it('a file of a secret that cannot be used is refused by the name of its setting, without its path', () => {
  mkdirSync(join(folder.path, 'a-folder'));
  const problemOf = (path: string) => problemsOf({ SPANDREL_SECRET_FILE: path });
  expect(problemOf('/nowhere/secret-path')).toEqual(['the file of SPANDREL_SECRET_FILE cannot be read (ENOENT)']);
  expect(problemOf(join(folder.path, 'a-folder'))).toEqual(['the file of SPANDREL_SECRET_FILE is not a file']);
  expect(problemOf(fileWith(' \n'))).toEqual(['the file of SPANDREL_SECRET_FILE is empty']);
  expect(problemOf(fileWith('x'.repeat(1024 * 1024 + 1)))).toEqual([
    'the file of SPANDREL_SECRET_FILE is larger than 1048576 bytes',
  ]);
  expect(problemOf(fileWith('short'))).toEqual(['SPANDREL_SECRET must have at least 32 characters']);
});

it('a secret is set once, and only secrets have a file', () => {
  const path = fileWith(SECRET);
  expect(problemsOf({ SPANDREL_SECRET: SECRET, SPANDREL_SECRET_FILE: path })).toEqual([
    'SPANDREL_SECRET and SPANDREL_SECRET_FILE must not both be set',
  ]);
  expect(readConfig({ SPANDREL_SECRET: '', SPANDREL_SECRET_FILE: path }).secrets?.current).toBe(SECRET);
  expect(problemsOf({ SPANDREL_HOST_FILE: path })).toEqual([
    'SPANDREL_HOST_FILE is not a setting; only secrets have a file',
  ]);
});

it('settings stand in a file as in dotenv', () => {
  const path = fileWith(`# of this host
SPANDREL_HOST=::1
export SPANDREL_PORT = 81   # the second
SPANDREL_SECRET="${SECRET} "  # called "the one"
SPANDREL_LLM_API_KEY=sk-#1
SPANDREL_DATABASE_URL=postgres://u:p%23w@h/d\r
SPANDREL_LLM_MODEL=
AWS_REGION=eu-west-1
`);
  expect(readConfig({ SPANDREL_CONFIG: path })).toMatchObject({
    host: '::1',
    port: 81,
    secrets: { current: SECRET, previous: null },
    databaseUrl: 'postgres://u:p%23w@h/d',
    llm: { apiKey: 'sk-#1', model: 'gpt-5-mini' },
    aws: { region: 'eu-west-1' },
  });
});

it('the environment comes before the file of settings, unless it is empty or about a service', () => {
  const secretPath = fileWith('the secret that the file of settings names');
  const path = fileWith(`SPANDREL_PORT=81\nSPANDREL_HOST=::1\nSPANDREL_SECRET_FILE=${secretPath}`);
  const read = readConfig({ SPANDREL_CONFIG: path, SPANDREL_HOST: '', SPANDREL_PORT: 'tcp://10.0.0.1:5560' });
  expect(read).toMatchObject({
    host: '::1',
    port: 81,
    secrets: { current: 'the secret that the file of settings names', previous: null },
  });
  const imposed = readConfig({ SPANDREL_CONFIG: path, SPANDREL_PORT: '82', SPANDREL_SECRET: SECRET });
  expect(imposed).toMatchObject({ port: 82, secrets: { current: SECRET, previous: null } });
});

it('every wrong line of the file of settings is named, without values', () => {
  const path = fileWith(
    [
      'SPANDREL_PROT=1',
      'a sentence with a password',
      'SPANDREL_SECRET="half',
      'SPANDREL_LLM_API_KEY=#of-the-platform',
      'SPANDREL_PORT=1',
      'SPANDREL_PORT=2',
      'PATH=/bin',
      'SPANDREL_CONFIG=other',
    ].join('\n'),
  );
  const place = (line: number) => `line ${line} of the file of SPANDREL_CONFIG`;
  expect(problemsOf({ SPANDREL_CONFIG: path })).toEqual([
    `${place(1)} has a wrong name: SPANDREL_PROT is not a setting; the nearest is SPANDREL_PORT`,
    `${place(2)} is not NAME=value`,
    `${place(3)} needs quotes around its value, because it begins with # or with a quote that does not end`,
    `${place(4)} needs quotes around its value, because it begins with # or with a quote that does not end`,
    `${place(6)} sets SPANDREL_PORT a second time`,
    `${place(7)} has a wrong name: PATH is not a setting; set it in the environment`,
    `${place(8)} sets SPANDREL_CONFIG, which only the environment can`,
  ]);
  expect(problemsOf({ SPANDREL_CONFIG: '/nowhere' })).toEqual(['the file of SPANDREL_CONFIG cannot be read (ENOENT)']);
});
