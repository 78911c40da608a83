import { statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { compactFile } from '../../src/storage/engine/sqlite/compact.ts';
import { compactDatabase, openStore } from '../../src/storage/open.ts';
import { temporaryFolder } from '../support/temp.ts';
import { finish, NO_TELEMETRY_CUTS } from './conformance/retention-walk.ts';
import { RECEIVED_AT_MS, sampleAppend, samplePlan, sampleSpan } from './conformance/samples.ts';
import { quietLog } from './quiet-log.ts';

const options = { queueMaxBytes: 64 * 1024 * 1024, log: quietLog };
const deps = { pause: async () => undefined, nowMs: () => performance.now() };
const TRACES = 500;

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'spandrel.db');
});
afterEach(() => folder.remove());

const open = () => openStore({ url: `sqlite:${file}`, ...options });
type Store = Awaited<ReturnType<typeof open>>;

type Kept = { readonly projectNumber: number; readonly traceId: string };

/** Stores traces and removes most of them. Returns those that are left. */
async function fillAndErase(store: Store): Promise<readonly Kept[]> {
  const plan = samplePlan();
  await store.installation.bootstrap(plan);
  const project = await store.keys.findProject(plan.project.id);
  if (project === null) throw new Error('the first project is missing');
  const { number: projectNumber, organizationNumber, organizationId } = project;
  const place = { projectId: project.id, projectNumber, organizationNumber, organizationId };
  const large = () => sampleSpan({ inputJson: JSON.stringify({ type: 'text', value: 'x'.repeat(8_000) }) });
  const isKept = (index: number) => index % 20 === 19;
  const appends = Array.from({ length: TRACES }, (_, index) =>
    sampleAppend({
      ...place,
      receivedAtMs: RECEIVED_AT_MS + (isKept(index) ? 1 : 0),
      spans: [large()],
      requests: [],
    }),
  );
  for (const append of appends) await store.traces.append(append);
  const traces = [{ storedDays: null, expiredBeforeMs: RECEIVED_AT_MS + 1 }];
  await finish(store.telemetryRetention.begin({ ...NO_TELEMETRY_CUTS, traces }), 500);
  return appends.filter((_, index) => isKept(index));
}

async function expectWhole(store: Store, kept: readonly Kept[]): Promise<void> {
  for (const { projectNumber, traceId } of kept) {
    expect((await store.traces.find(projectNumber, traceId))?.spanCount).toBe(1);
  }
}

/** Makes a file of a build whose files could not shrink. */
function createOldFile(): void {
  const db = new Database(file);
  db.pragma('auto_vacuum = NONE');
  db.exec('CREATE TABLE first (id); DROP TABLE first');
  db.close();
}

it('a file shrinks beside a running server, which goes on storing, and nothing is lost', async () => {
  const store = await open();
  const kept = await fillAndErase(store);
  const during: Promise<unknown>[] = [];
  const pause = async () => {
    during.push(store.traces.append(sampleAppend({ requests: [] })));
    await during.at(-1);
  };
  const { bytesBefore, bytesAfter, isLogEmpty } = await compactFile(file, { ...deps, pause });
  expect(bytesAfter).toBeLessThan(bytesBefore / 2);
  expect(isLogEmpty).toBe(true);
  // What was appended while the index was compacted.
  expect(statSync(`${file}-wal`).size).toBeLessThan(500_000);
  expect(during.length).toBeGreaterThan(2);
  await expectWhole(store, kept);
  await store.traces.append(sampleAppend());
  await store.close();
  const db = new Database(file, { readonly: true });
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  db.close();
});

it('what a long read keeps in the log is said', async () => {
  const store = await open();
  await fillAndErase(store);
  const reader = new Database(file, { readonly: true });
  const rows = reader.prepare('SELECT * FROM traces').iterate();
  rows.next();
  expect((await compactFile(file, deps)).isLogEmpty).toBe(false);
  rows.return?.();
  expect((await compactFile(file, deps)).isLogEmpty).toBe(true);
  expect(statSync(`${file}-wal`).size).toBe(0);
  reader.close();
  await store.close();
});

it('a file of an older build shrinks only while no server runs, and later beside one', async () => {
  createOldFile();
  const store = await open();
  const kept = await fillAndErase(store);
  await expect(compactFile(file, deps)).rejects.toThrow(/another process is using .* only while no server runs/);
  await store.close();
  const { bytesBefore, bytesAfter } = await compactFile(file, deps);
  expect(bytesAfter).toBeLessThan(bytesBefore / 2);
  const again = await open();
  await expectWhole(again, kept);
  expect((await compactFile(file, deps)).bytesAfter).toBeLessThanOrEqual(bytesAfter + 4096);
  await again.close();
});

it('a rewrite that the disk has no room for does not begin', async () => {
  createOldFile();
  await (await open()).close();
  const size = statSync(file).size;
  await expect(compactFile(file, { ...deps, freeBytesIn: () => size })).rejects.toThrow(/needs \d+ MiB of free disk/);
  expect(statSync(file).size).toBe(size);
});

it('other databases are told what to do', async () => {
  await expect(compactDatabase('sqlite::memory:', deps)).rejects.toThrow(/in memory has no file/);
  await expect(compactDatabase('postgres://nobody@127.0.0.1:1/none', deps)).rejects.toThrow(/VACUUM FULL/);
  await expect(compactDatabase(`sqlite:${file}`, deps)).rejects.toThrow(/there is no database/);
  const other = new Database(file);
  other.exec('CREATE TABLE of_others (id)');
  other.close();
  await expect(compactDatabase(`sqlite:${file}`, deps)).rejects.toThrow(/database of another program/);
});
