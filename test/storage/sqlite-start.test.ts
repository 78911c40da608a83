import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SqliteStoreOptions } from '../../src/storage/engine/sqlite/store.ts';
import { databaseFile, openStore, StartError } from '../../src/storage/open.ts';
import { isFullTier } from '../support/scenario.ts';
import { temporaryFolder, until } from '../support/temp.ts';
import { PROJECT, sampleAppend } from './conformance/samples.ts';
import { quietLog } from './quiet-log.ts';

const NOBODY = 65_534;

let folder: ReturnType<typeof temporaryFolder>;
let file: string;

beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'spandrel.db');
});
afterEach(() => folder.remove());

/** A writer thread opens the file in the same way, and takes long to start. */
const WRITER = isFullTier ? 'in its thread' : 'here';

function open(path = file, writer: SqliteStoreOptions['writer'] = WRITER) {
  return openStore({ url: `sqlite:${path}`, queueMaxBytes: 1024 * 1024, log: quietLog, writer });
}

type Opener = { readonly process: ChildProcess; readonly said: string };

/** Opens the store in another process; resolves to its first line. */
async function openElsewhere(options: { uid?: number } = {}, path = file): Promise<Opener> {
  const script = fileURLToPath(new URL('./store-process.ts', import.meta.url));
  const child = spawn(process.execPath, [script, `sqlite:${path}`], {
    stdio: ['ignore', 'pipe', 'ignore'],
    ...options,
  });
  const [said] = await once(createInterface(child.stdout), 'line');
  return { process: child, said };
}

async function refusal(path = file): Promise<string> {
  try {
    await (await open(path)).close();
    return 'not refused';
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    expect(error.message).not.toContain('\n');
    return error.message;
  }
}

it('creates the folder and the file when they are missing', async () => {
  file = join(folder.path, 'a', 'b', 'spandrel.db');
  const store = await open();
  await store.ready();
  await store.close();
});

it('cannot be locked by others, for any umask and owner of the file', async () => {
  const umask = process.umask(0);
  try {
    for (const before of [null, 0o666, 0o644, 0o640, 0o700]) {
      if (before !== null) chmodSync(`${file}.lock`, before);
      const store = await open();
      expect((statSync(`${file}.lock`).mode & 0o777).toString(8), `before: ${before?.toString(8)}`).toMatch(/^[67]00$/);
      // Checking the file must not release the lock, as closing it would.
      expect(await refusal()).toMatch(/another process is using the database/);
      expect((await openElsewhere()).said).toMatch(/^refused: another process/);
      await store.close();
    }
  } finally {
    process.umask(umask);
  }
});

it('refuses a second process, and a second store in the same process', async () => {
  const store = await open();
  expect(await openElsewhere()).toMatchObject({ said: expect.stringMatching(/^refused: another process is using/) });
  expect(await refusal()).toContain('another process is using the database');
  await store.close();
  expect(await refusal()).toBe('not refused');
});

it('refuses a second process that comes by a link to the file or to its folder', async () => {
  const store = await open();
  const [linked, link] = [join(folder.path, 'linked'), join(folder.path, 'link.db')];
  symlinkSync(folder.path, linked);
  symlinkSync(file, link);
  for (const path of [link, join(linked, 'spandrel.db')]) {
    expect((await openElsewhere({}, path)).said).toMatch(/^refused: another process is using/);
  }
  await store.close();
});

it('refuses one that comes by a link which led to no file before the first start, and keeps the file private', async () => {
  const link = join(folder.path, 'first.db');
  symlinkSync(file, link);
  const umask = process.umask(0o022);
  const store = await open(link);
  process.umask(umask);
  expect(statSync(file).mode & 0o077).toBe(0);
  expect((await openElsewhere({}, file)).said).toMatch(/^refused: another process is using/);
  await store.close();
  const lost = join(folder.path, 'lost.db');
  symlinkSync(join(folder.path, 'missing', 'x.db'), lost);
  expect((await openElsewhere({}, lost)).said).toContain('a folder that is missing');
});

it('writes nothing while another process has the database, because the lock file was removed', async () => {
  const store = await open(file, 'in its thread');
  await store.traces.append(sampleAppend());
  rmSync(`${file}.lock`);
  const other = await openElsewhere();
  expect(other.said).toBe('open');
  for (let attempt = 0; attempt < 3; attempt += 1) {
    await expect(store.traces.append(sampleAppend())).rejects.toMatchObject({ code: 'unavailable' });
    await expect(store.ready()).rejects.toMatchObject({ code: 'unavailable' });
  }
  const exited = once(other.process, 'exit');
  other.process.kill('SIGKILL');
  await exited;
  await until(() =>
    store.ready().then(
      () => true,
      () => false,
    ),
  );
  await store.traces.append(sampleAppend());
  expect((await openElsewhere()).said).toMatch(/^refused: another process is using/);
  await store.close();
});

it('lets go of the lock at once when its holder is killed', async () => {
  const holder = await openElsewhere();
  expect(holder.said).toBe('open');
  expect(await refusal()).toContain('another process is using the database');
  const exited = once(holder.process, 'exit');
  holder.process.kill('SIGKILL');
  await exited;
  const store = await open();
  await store.traces.append(sampleAppend());
  await store.close();
});

it('refuses a file that is not a database, and leaves it as it is', async () => {
  writeFileSync(file, 'dear diary\n'.repeat(1000));
  expect(await refusal()).toContain('is not a SQLite database');
  expect(readFileSync(file, 'utf8')).toBe('dear diary\n'.repeat(1000));
});

it('refuses the database of another program, and leaves it as it is', async () => {
  const other = new Database(file);
  other.exec('CREATE TABLE recipes (name TEXT)');
  other.close();
  const before = readFileSync(file);
  expect(await refusal()).toContain('is the database of another program');
  expect(readFileSync(file).equals(before)).toBe(true);
});

it('refuses a database that a newer version has written, and leaves it as it is', async () => {
  await (await open()).close();
  const db = new Database(file);
  db.exec("INSERT INTO mikro_orm_migrations (name, executed_at) VALUES ('sqlite-9999-tomorrow', 0)");
  db.close();
  expect(await refusal()).toContain('was written by a newer version');
});

it('finishes a first start that was cut short', async () => {
  const db = new Database(file);
  db.exec('CREATE TABLE mikro_orm_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, executed_at DATETIME)');
  db.close();
  const store = await open();
  const append = sampleAppend();
  await store.traces.append(append);
  expect(await store.traces.find(PROJECT.number, append.traceId)).not.toBeNull();
  await store.close();
});

it('refuses a folder instead of the file', async () => {
  mkdirSync(file);
  expect(await refusal()).toContain('cannot be opened');
});

it('refuses a folder that cannot be created', async () => {
  writeFileSync(join(folder.path, 'plain'), '');
  expect(await refusal(join(folder.path, 'plain', 'spandrel.db'))).toMatch(/cannot be created: .*; correct the path/);
});

// Root may write everywhere, so as root another user must try.
const otherUser = process.getuid?.() === 0 ? { uid: NOBODY } : {};

it('refuses a folder that may only be read', async () => {
  chmodSync(folder.path, 0o555);
  const { said } = await openElsewhere(otherUser);
  chmodSync(folder.path, 0o755);
  expect(said).toMatch(
    /^refused: the file .*spandrel\.db\.lock cannot be written: EACCES: permission denied.*give the folder and its files to the user/,
  );
});

it('refuses a database or a lock that may only be read', async () => {
  await (await open()).close();
  chmodSync(folder.path, 0o777);
  chmodSync(file, 0o666);
  chmodSync(`${file}.lock`, 0o444);
  expect((await openElsewhere(otherUser)).said).toMatch(
    /^refused: the lock of the database .* cannot be taken: .*; give the folder and its files/,
  );
  chmodSync(file, 0o444);
  chmodSync(`${file}.lock`, 0o666);
  expect((await openElsewhere(otherUser)).said).toMatch(
    /^refused: .*cannot be opened for writing: .*; give the folder and its files/,
  );
});

it.each([
  ['//spandrel.db', 'slashes'],
  ['///var/lib/spandrel.db', 'slashes'],
  ['./x.db?mode=ro', 'question mark'],
  [':memory:?cache=shared', 'question mark'],
  ['/my%20data/x.db', '%20'],
  ['/data/', 'folder'],
  ['.', 'folder'],
  ['..', 'folder'],
  ['/data/..', 'folder'],
  ['~/x.db', '~'],
  ['$HOME/x.db', 'variable'],
  ['/data/$NAME.db', 'variable'],
  ['file:/data/x.db', 'file:'],
  ['/data/x\n.db', 'control character'],
])('refuses sqlite:%s, which would begin another database', async (path, says) => {
  expect(await refusal(path)).toContain(says);
});

it.each(['x.db', './x.db', '../x.db', '/a b/x.db', '/100%/x.db', '/a/.x', '/a~b/x.db', '/us$/x.db'])(
  'takes sqlite:%s as it is written',
  (path) => {
    expect(databaseFile(`sqlite:${path}`)).toBe(resolve(path));
  },
);

it('takes no address of a kind it does not know', () => {
  for (const url of ['', 'sqlite:', 'spandrel.db', 'mysql://localhost/spandrel', '/tmp/x']) {
    expect(() => databaseFile(url)).toThrow(StartError);
  }
  expect(databaseFile('sqlite::memory:')).toBeNull();
  expect(databaseFile('postgres://localhost/spandrel')).toBeNull();
  expect(databaseFile('sqlite:/tmp/x.db')).toBe('/tmp/x.db');
  expect(databaseFile('sqlite:./data/x.db')).toBe(join(process.cwd(), 'data/x.db'));
});
