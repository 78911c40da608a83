import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiKey } from '../../src/domain/caller.ts';
import { setUpGateway } from '../../src/domain/gateway/gateway-setup.ts';
import { createFreshLookup, createFreshness } from '../../src/storage/keys/freshness.ts';
import { cacheKeyReads, type KeyReader } from '../../src/storage/keys/key-cache.ts';

describe('a shared fresh read', () => {
  it('began after every call that it answers, with one running and one waiting', async () => {
    const reads = createHeldReads();
    const fresh = createFreshness(() => reads.begin());
    const first = fresh();
    await reads.until(1);
    // These begin during the first read, which may miss later changes.
    const late = [fresh(), fresh(), fresh()];
    await settle();
    expect(reads.begun).toBe(1);
    reads.answer(10);
    expect(await first).toBe(10);
    await reads.until(2);
    const later = fresh();
    reads.answer(11);
    expect(await Promise.all(late)).toEqual([11, 11, 11]);
    await reads.until(3);
    reads.answer(12);
    expect(await later).toBe(12);
    expect(reads.begun).toBe(3);
  });

  it('is shared by all who ask at the same moment', async () => {
    let begun = 0;
    const fresh = createFreshness(async () => {
      begun += 1;
      return begun;
    });
    expect(await Promise.all([fresh(), fresh(), fresh()])).toEqual([1, 1, 1]);
    expect(await fresh()).toBe(2);
  });

  it('waits for a pause, during which others may join', async () => {
    const pauses: (() => void)[] = [];
    let begun = 0;
    const fresh = createFreshness(
      async () => {
        begun += 1;
        return begun;
      },
      () => new Promise<void>((resolve) => void pauses.push(resolve)),
    );
    const first = fresh();
    await settle();
    const second = fresh();
    expect(begun).toBe(0);
    pauses.shift()?.();
    expect(await Promise.all([first, second])).toEqual([1, 1]);
    const later = fresh();
    await settle();
    pauses.shift()?.();
    expect(await later).toBe(2);
  });

  it('fails for those it was for, and the next one is for the others', async () => {
    const reads = createHeldReads();
    const fresh = createFreshness(() => reads.begin());
    const failing = fresh();
    await reads.until(1);
    const next = fresh();
    reads.fail(new Error('away'));
    await expect(failing).rejects.toThrow('away');
    await reads.until(2);
    reads.answer(1);
    expect(await next).toBe(1);
  });

  it('continues after a read that could not begin', async () => {
    let isAway = true;
    const fresh = createFreshness(() => {
      if (isAway) throw new Error('away');
      return Promise.resolve(1);
    });
    await expect(fresh()).rejects.toThrow('away');
    isAway = false;
    expect(await fresh()).toBe(1);
  });

  it('reads every name that was requested before it began, once each', async () => {
    const batches: (readonly string[])[] = [];
    const find = createFreshLookup(async (names) => {
      batches.push(names);
      return new Map(names.filter((name) => name !== 'unknown').map((name) => [name, name.toUpperCase()]));
    });
    expect(await Promise.all(['a', 'b', 'a', 'unknown'].map(find))).toEqual(['A', 'B', 'A', null]);
    expect(batches).toEqual([['a', 'b', 'unknown']]);
    const first = find('c');
    await Promise.resolve();
    const rest = [find('c'), find('d')];
    expect(await Promise.all([first, ...rest])).toEqual(['C', 'C', 'D']);
    expect(batches.slice(1)).toEqual([['c'], ['c', 'd']]);
  });
});

describe('processes that share a database', () => {
  it('refuse a key as soon as its revocation is acknowledged, however slow an earlier read is', async () => {
    const database = createDatabase();
    const [one, other] = [database.connect(), database.connect()];
    await Promise.all([expectRevoked(one, null), expectRevoked(other, null)]);
    const release = database.lock();
    // This read has the old generation and is held while the revocation is acknowledged.
    const early = other.findApiKey('key');
    await settle();
    database.revoke();
    const late = other.findApiKey('key');
    release();
    await early;
    expect(await late).toMatchObject({ revokedAtMs: 1 });
    await expectRevoked(one, 1);
  });

  it('do not keep under the next generation what they read in the one before', async () => {
    const database = createDatabase();
    const cache = database.connect();
    // The change happens between the reads of generation and rows, and after the rows.
    for (const moment of ['generation', 'rows'] as const) {
      database.after(moment, () => database.revoke());
      await cache.findApiKey('key');
      await expectRevoked(cache, database.revocations);
    }
  });

  it('accept no answer of a generation that overtakes another', async () => {
    const reads = [createHeldReads(), createHeldReads()] as const;
    const state = { revokedAtMs: null as number | null };
    const pending = [...reads];
    const cache = cacheKeyReads({
      reader: readerOf(async () => ({ id: 'key', revokedAtMs: state.revokedAtMs }) as ApiKey),
      generation: () => pending.shift()?.begin() ?? Promise.resolve(2),
    });
    const early = cache.findApiKey('key');
    state.revokedAtMs = 1;
    const late = cache.findApiKey('key');
    reads[1].answer(2);
    expect(await late).toMatchObject({ revokedAtMs: 1 });
    reads[0].answer(1);
    await early;
    await expectRevoked(cache, 1);
  });

  it('never return a value that was replaced before the read, for any timing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.constantFrom('ask', 'revoke'), { maxLength: 20 }),
        async (s, steps) => {
          const database = createDatabase((work) => s.schedule(Promise.resolve()).then(work));
          const caches = [database.connect(), database.connect()];
          const answers: Promise<void>[] = [];
          const run = s.scheduleSequence(
            steps.map((step) => async () => {
              if (step === 'revoke') return database.revoke();
              const known = database.revocations;
              for (const cache of caches) {
                const answer = Promise.resolve(cache.findApiKey('key'));
                answers.push(answer.then((key) => expect(key?.revokedAtMs ?? 0).toBeGreaterThanOrEqual(known)));
              }
            }),
          );
          await s.waitFor(run.task);
          await s.waitFor(Promise.all(answers));
        },
      ),
      { numRuns: 300 },
    );
  });
});

type Cache = ReturnType<typeof cacheKeyReads>;

async function expectRevoked(cache: Cache, revokedAtMs: number | null): Promise<void> {
  expect(await cache.findApiKey('key')).toMatchObject({ revokedAtMs });
}

/** A database of one key with numbered revocations; `delay` holds its reads. */
function createDatabase(delay: (read: () => unknown) => Promise<unknown> = async (read) => read()) {
  let held: Promise<void> = Promise.resolve();
  const hooks = new Map<'generation' | 'rows', () => void>();
  const database = {
    revocations: 0,
    revoke() {
      database.revocations += 1;
    },
    /** Runs once between such a read and its answer. */
    after(read: 'generation' | 'rows', run: () => void) {
      hooks.set(read, run);
    },
    /** Holds all answers until the returned function is called. */
    lock(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    connect(): Cache {
      return cacheKeyReads({
        generation: createFreshness(() => read('generation', () => database.revocations)),
        reader: readerOf(() =>
          read('rows', () => ({ id: 'key', revokedAtMs: database.revocations || null }) as ApiKey),
        ),
      });
    },
  };

  async function read<T>(name: 'generation' | 'rows', read: () => T): Promise<T> {
    const seen = (await delay(read)) as T;
    hooks.get(name)?.();
    hooks.delete(name);
    await held;
    await delay(() => undefined);
    return seen;
  }

  return database;
}

function readerOf(findApiKey: KeyReader['findApiKey']): KeyReader {
  return {
    findApiKey,
    listKeyIds: null,
    findProject: async () => null,
    findProjectByKey: async () => null,
    findVirtualKey: async () => null,
    findSession: async () => null,
    findGatewaySetup: async () => setUpGateway([], { version: 0, budgets: [] }),
    hasImportedCredentials: async () => false,
  };
}

/** Reads that the test answers, oldest first. */
function createHeldReads() {
  const open: PromiseWithResolvers<number>[] = [];
  const reads = {
    begun: 0,
    begin(): Promise<number> {
      reads.begun += 1;
      const read = Promise.withResolvers<number>();
      open.push(read);
      return read.promise;
    },
    answer: (value: number) => open.shift()?.resolve(value),
    fail: (error: Error) => open.shift()?.reject(error),
    until: (count: number) => expect.poll(() => reads.begun).toBe(count),
  };
  return reads;
}

/** Lets pending callbacks run. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
