import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { createPool, type Pool, type PoolOptions } from '../../../src/evaluation/pool/pool.ts';

/** Does what its task says. A thread with the task to wait waits until it is ended. */
const THREAD = `
const { parentPort, threadId } = require('node:worker_threads');
const work = {
  name: () => threadId,
  spin: () => { for (;;); },
  fill: () => { const all = []; for (;;) all.push({ size: all.length }); },
  fail: () => { throw new Error('no such luck'); },
  exit: () => process.exit(3),
  last: () => threadId,
};
parentPort.on('message', (task) => {
  if (task === 'load') return;
  if (task === 'die') process.exit(4);
  parentPort.postMessage({ kind: 'begun' });
  try { parentPort.postMessage({ kind: 'done', value: work[task]() }); }
  catch (error) { parentPort.postMessage({ kind: 'failed', message: error.message }); }
  if (task === 'last') process.exit(4);
});`;

const pools: Pool[] = [];
const never = new AbortController().signal;

type Of = { readonly organizationId?: string; readonly projectId?: string; readonly isUrgent?: boolean };

function of(task: string, { organizationId = 'one', projectId = organizationId, isUrgent = false }: Of = {}) {
  return { task, tenant: { organizationId, projectId }, isUrgent };
}

function start(options: Partial<PoolOptions> = {}) {
  const spawned: Worker[] = [];
  const pool = createPool({
    threadsMax: 1,
    queueMax: 10,
    waitMaxMs: 60_000,
    timeoutMs: 60_000,
    loadMaxMs: 60_000,
    idleMs: 60_000,
    spawn: () => {
      const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 };
      const worker = new Worker(THREAD, { eval: true, resourceLimits });
      spawned.push(worker);
      return worker;
    },
    ...options,
  });
  pools.push(pool);
  return { pool, spawned };
}

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

describe('the pool', () => {
  it('starts a thread when there is work, keeps it, and has no more than it may', async () => {
    const { pool, spawned } = start({ threadsMax: 4 });
    expect(spawned).toHaveLength(0);
    const first = await pool.run(of('name'), never);
    expect(await pool.run(of('name'), never)).toEqual(first);
    expect(spawned).toHaveLength(1);
    await Promise.all(Array.from({ length: 6 }, () => pool.run(of('name'), never)));
    expect(spawned).toHaveLength(2);
  });

  it.each([
    ['spin', { timeoutMs: 1000 }, { kind: 'timeout' }],
    ['fill', {}, { kind: 'out_of_memory' }],
    ['fail', {}, { kind: 'failed', message: 'no such luck' }],
    ['exit', {}, { kind: 'failed', message: 'the thread ended with code 3' }],
  ] as const)('survives a task that does %s, and does the next one', async (task, options, answer) => {
    const { pool } = start(options);
    const [bad, good] = await Promise.all([pool.run(of(task), never), pool.run(of('name'), never)]);
    expect(bad).toEqual(answer);
    expect(good).toMatchObject({ kind: 'done' });
  });

  it('answers at once when a task cannot be sent to a thread, and keeps the thread', async () => {
    const { pool, spawned } = start();
    const [bad, good] = await Promise.all([
      pool.run({ ...of('name'), task: () => 1 }, never),
      pool.run(of('name'), never),
    ]);
    expect(bad).toEqual({ kind: 'failed', message: '() => 1 could not be cloned.' });
    expect(good).toMatchObject({ kind: 'done' });
    expect(spawned).toHaveLength(1);
  });

  it('gives a task to another thread when its own one ends before it begins', async () => {
    const { pool } = start();
    for (let round = 0; round < 10; round += 1) {
      const [last, good] = await Promise.all([
        pool.run(of('last'), never),
        pool.run(of('name', { organizationId: 'other' }), never),
      ]);
      expect([last.kind, good.kind]).toEqual(['done', 'done']);
    }
  });

  it.each([
    ['die', {}],
    ['load', { loadMaxMs: 300 }],
  ] as const)('has no outcome of a task that no thread begins, such as %s', async (task, options) => {
    const { pool, spawned } = start(options);
    expect(await pool.run(of(task), never)).toEqual({ kind: 'full' });
    expect(spawned).toHaveLength(3);
    if (task === 'die') expect(await pool.run(of('name'), never)).toMatchObject({ kind: 'done' });
  });

  it('refuses what finds the queue full, and gives up what waited too long', async () => {
    const { pool } = start({ queueMax: 2, timeoutMs: 1000, waitMaxMs: 50 });
    const running = pool.run(of('spin'), never);
    const waiting = [pool.run(of('name'), never), pool.run(of('name', { organizationId: 'another' }), never)];
    expect(await pool.run(of('name', { organizationId: 'third' }), never)).toEqual({ kind: 'full' });
    expect(await running).toEqual({ kind: 'timeout' });
    expect(await Promise.all(waiting)).toEqual([{ kind: 'full' }, { kind: 'full' }]);
    expect(await pool.run(of('name'), never)).toMatchObject({ kind: 'done' });
  });

  it('drops aborted runs, running or waiting', async () => {
    const { pool } = start();
    const [running, waiting] = [new AbortController(), new AbortController()];
    const spinning = pool.run(of('spin'), running.signal);
    const queued = pool.run(of('name'), waiting.signal);
    waiting.abort();
    expect(await queued).toEqual({ kind: 'aborted' });
    running.abort();
    expect(await spinning).toEqual({ kind: 'aborted' });
    expect(await pool.run(of('name'), AbortSignal.abort())).toEqual({ kind: 'aborted' });
    expect(await pool.run(of('name'), never)).toMatchObject({ kind: 'done' });
  });

  it('keeps a thread for other organizations, however many projects of one fill it with endless work', async () => {
    const { pool, spawned } = start({ threadsMax: 4 });
    const attack = Array.from({ length: 64 }, (_, index) =>
      pool.run(of('load', { organizationId: 'attacker', projectId: `project_${index}`, isUrgent: true }), never),
    );
    const guardrail = of('name', { organizationId: 'other', isUrgent: true });
    const first = await pool.run(guardrail, never);
    expect(first).toMatchObject({ kind: 'done' });
    // Its thread stays its own.
    expect(await pool.run(guardrail, never)).toEqual(first);
    expect(spawned).toHaveLength(4);
    await pool.close();
    const kinds = (await Promise.all(attack)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'aborted')).toHaveLength(3 + 5);
    expect(kinds.filter((kind) => kind === 'full')).toHaveLength(64 - 8);
  });

  it('does not give the thread of others to an organization whose own one was ended', async () => {
    const { pool, spawned } = start({ threadsMax: 2, timeoutMs: 200 });
    const guardrail = of('name', { organizationId: 'other', isUrgent: true });
    const first = await pool.run(guardrail, never);
    for (let round = 0; round < 3; round += 1) {
      expect(await pool.run(of('spin'), never)).toEqual({ kind: 'timeout' });
    }
    expect(await pool.run(guardrail, never)).toEqual(first);
    expect(spawned).toHaveLength(4);
  });

  it('ends a thread that has nothing to do', async () => {
    const { pool, spawned } = start({ idleMs: 20 });
    await pool.run(of('name'), never);
    await new Promise((resolve) => spawned[0]?.once('exit', resolve));
    expect(await pool.run(of('name'), never)).toMatchObject({ kind: 'done' });
    expect(spawned).toHaveLength(2);
  });

  it('answers everything when it is closed', async () => {
    const { pool } = start();
    const runs = [pool.run(of('spin'), never), pool.run(of('name'), never)];
    await pool.close();
    expect(await Promise.all(runs)).toEqual([{ kind: 'aborted' }, { kind: 'aborted' }]);
    expect(await pool.run(of('name'), never)).toEqual({ kind: 'aborted' });
  });
});
