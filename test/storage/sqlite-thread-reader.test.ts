import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/domain/store.ts';
import { compileStatements } from '../../src/storage/engine/sqlite/statements.ts';
import { createThreadReader, spawnReader } from '../../src/storage/engine/sqlite/thread-reader.ts';
import { openStore } from '../../src/storage/open.ts';
import { temporaryFolder } from '../support/temp.ts';
import { bareSpan, RECEIVED_AT_MS, sampleAppend } from './conformance/samples.ts';
import { findStored } from './conformance/trace-reading.ts';
import { quietLog } from './quiet-log.ts';

const SPANS = 3000;
const EVERYTHING = { after: null, limit: 10 };

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
let store: Store;
let traceId: string;
let threads: Worker[];
beforeAll(async () => {
  folder = temporaryFolder();
  file = join(folder.path, 'spandrel.db');
  store = await openStore({ url: `sqlite:${file}`, queueMaxBytes: 64 * 1024 * 1024, log: quietLog });
  const spans = Array.from({ length: SPANS }, (_, index) => bareSpan({ startedAtMs: RECEIVED_AT_MS + index }));
  const append = sampleAppend({ spans, requests: [] });
  await store.traces.append(append);
  traceId = append.traceId;
});
beforeEach(() => {
  threads = [];
});
afterAll(async () => {
  await store.close();
  folder.remove();
});

function createReader({ path = file, ...options }: { path?: string; readMaxMs?: number } = {}) {
  const spawn = () => {
    const thread = spawnReader(path, compileStatements());
    threads.push(thread);
    return thread;
  };
  return createThreadReader({ spawn, ...options });
}

describe('the thread for long reads', () => {
  it('starts with the first read, serves all further ones, and sees every commit acknowledged before', async () => {
    const { reads, close } = createReader();
    expect(threads).toHaveLength(0);
    const trace = await findStored(store.traces, traceId);
    expect((await reads.outline(trace)).tree).toMatch(new RegExp(`\n… ${SPANS - 1000} more$`));
    await store.traces.append(
      sampleAppend({ traceId, spans: [bareSpan({ spanId: 'new', startedAtMs: 1 })], requests: [] }),
    );
    const [first] = await reads.spanOrder(trace, EVERYTHING);
    expect(first?.id).toBe('new');
    expect(await reads.digest(trace)).toMatch(/ more$/);
    expect(threads).toHaveLength(1);
    await close();
  });

  it('refuses as unavailable what it was reading when it died, and starts again', async () => {
    const { reads, close } = createReader();
    const trace = await findStored(store.traces, traceId);
    await reads.spanOrder(trace, EVERYTHING);
    const lost = expect(Promise.all([reads.outline(trace), reads.digest(trace)])).rejects.toMatchObject({
      code: 'unavailable',
    });
    await threads[0]?.terminate();
    await lost;
    expect(await reads.spanOrder(trace, EVERYTHING)).toHaveLength(10);
    await close();
  });

  it('refuses as unavailable when its file cannot be opened', async () => {
    const { reads, close } = createReader({ path: join(folder.path, 'missing.db') });
    const trace = await findStored(store.traces, traceId);
    await expect(reads.outline(trace)).rejects.toMatchObject({ code: 'unavailable' });
    await close();
  });

  it('gives up reads that take too long', async () => {
    const { reads, close } = createReader({ readMaxMs: 1 });
    const trace = await findStored(store.traces, traceId);
    // The limit of 1 ms ends before the thread starts.
    await expect(reads.outline(trace)).rejects.toMatchObject({ code: 'unavailable', message: /took too long/ });
    await close();
  });

  it('ends a thread that does not answer any more, and starts another one for the next read', async () => {
    const spawn = () => {
      const thread =
        threads.length === 0 ? new Worker('for (;;);', { eval: true }) : spawnReader(file, compileStatements());
      threads.push(thread);
      return thread;
    };
    const { reads, close } = createThreadReader({ spawn, readMaxMs: 2000 });
    const trace = await findStored(store.traces, traceId);
    const ended = new Promise((resolve) => {
      const lost = expect(reads.spanOrder(trace, EVERYTHING)).rejects.toMatchObject({ code: 'unavailable' });
      void threads[0]?.once('exit', () => resolve(lost));
    });
    await ended;
    expect(await reads.spanOrder(trace, EVERYTHING)).toHaveLength(10);
    await close();
  });

  it('is closed also where the thread does not answer any more', async () => {
    const { reads, close } = createThreadReader({
      spawn: () => new Worker('for (;;);', { eval: true }),
      readMaxMs: 50,
    });
    const trace = await findStored(store.traces, traceId);
    const lost = expect(reads.spanOrder(trace, EVERYTHING)).rejects.toMatchObject({ code: 'unavailable' });
    await close();
    await lost;
  });

  it('bounds what waits for it', async () => {
    const { reads, close } = createReader();
    const trace = await findStored(store.traces, traceId);
    const orders = await Promise.allSettled(Array.from({ length: 300 }, () => reads.spanOrder(trace, EVERYTHING)));
    expect(orders.filter(({ status }) => status === 'fulfilled')).toHaveLength(256);
    for (const each of orders) {
      if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'unavailable' });
    }
    await close();
  });

  it('ends what it has begun before it is closed, and refuses what comes later', async () => {
    const { reads, close } = createReader();
    const trace = await findStored(store.traces, traceId);
    const begun = reads.spanOrder(trace, EVERYTHING);
    await close();
    expect(await begun).toHaveLength(10);
    await expect(reads.outline(trace)).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('a store over a file', () => {
  it('starts no further thread for traces of few spans, and reads all spans of a large one in a thread', async () => {
    const few = sampleAppend({ spans: Array.from({ length: 10 }, () => bareSpan()), requests: [] });
    await store.traces.append(few);
    const small = await findStored(store.traces, few.traceId);
    const before = countThreads();
    await store.traces.outline(small);
    await store.traces.spanOrder(small, EVERYTHING);
    await store.traces.evaluationOrder(small, EVERYTHING);
    expect(countThreads()).toBe(before);
    await store.traces.outline(await findStored(store.traces, traceId));
    expect(countThreads()).toBe(before + 1);
  });
});

/** Counts the worker threads. */
function countThreads(): number {
  const resources = process.getActiveResourcesInfo();
  return resources.filter((name) => name === 'MessagePort' || name === 'Worker').length;
}
