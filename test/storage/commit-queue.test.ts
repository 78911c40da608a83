import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { TraceAppend } from '../../src/domain/traces/trace.ts';

import type { Append, AppendOutcome } from '../../src/storage/append/apply.ts';
import { createCommitQueue } from '../../src/storage/append/commit-queue.ts';
import { until } from '../support/temp.ts';
import { sampleAppend, sampleSpan } from './conformance/samples.ts';

type Commit = {
  readonly appends: readonly Append[];
  readonly resolve: (outcomes: readonly AppendOutcome[]) => void;
  readonly reject: (error: unknown) => void;
};

/** A queue whose commits end when the test resolves them. */
function createSlowQueue(queueMaxBytes: number, besideBytesMin = 0) {
  const commits: Commit[] = [];
  const queue = createCommitQueue({
    queueMaxBytes,
    besideBytesMin,
    commit: (appends) =>
      new Promise((resolve, reject) => {
        commits.push({ appends, resolve, reject });
      }),
  });
  return { queue, commits };
}

function largeAppend(bytes: number): TraceAppend {
  return sampleAppend({ spans: [sampleSpan({ inputJson: 'x'.repeat(bytes) })] });
}

it('what arrives while the writer is busy becomes one commit', async () => {
  const { queue, commits } = createSlowQueue(1_000_000);
  const first = [queue.append(sampleAppend()), queue.append(sampleAppend())];
  await until(() => commits.length === 1);
  const second = queue.append(sampleAppend());
  await until(() => commits.length === 2);
  const third = Array.from({ length: 10 }, () => queue.append(sampleAppend()));
  commits[0]?.resolve([null, { metadataNotes: ['a note'] }]);
  expect(await Promise.all(first)).toEqual([{ metadataNotes: [] }, { metadataNotes: ['a note'] }]);
  await until(() => commits.length === 3);
  expect(commits.map((commit) => commit.appends.length)).toEqual([2, 1, 10]);
  for (const commit of commits.slice(1)) commit.resolve(commit.appends.map(() => null));
  await Promise.all([second, ...third]);
});

it('beside a commit, only a large batch leaves', async () => {
  const { queue, commits } = createSlowQueue(1_000_000, 50_000);
  const first = queue.append(sampleAppend());
  await until(() => commits.length === 1);
  const small = queue.append(sampleAppend());
  await yieldToEventLoop();
  await yieldToEventLoop();
  expect(commits).toHaveLength(1);
  const large = queue.append(largeAppend(60_000));
  await until(() => commits.length === 2);
  const last = queue.append(largeAppend(60_000));
  await yieldToEventLoop();
  await yieldToEventLoop();
  expect(commits.map((commit) => commit.appends.length)).toEqual([1, 2]);
  commits[0]?.resolve([null]);
  await until(() => commits.length === 3);
  for (const commit of commits.slice(1)) commit.resolve(commit.appends.map(() => null));
  await Promise.all([first, small, large, last]);
});

it('refuses what would exceed the bound, and takes it again once there is room', async () => {
  const { queue, commits } = createSlowQueue(100_000);
  const first = queue.append(largeAppend(60_000));
  await expect(queue.append(largeAppend(60_000))).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
  await until(() => commits.length === 1);
  await expect(queue.append(largeAppend(60_000))).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
  commits[0]?.resolve([null]);
  await first;
  // An empty queue accepts even an append above the limit.
  const huge = queue.append(largeAppend(200_000));
  await until(() => commits.length === 2);
  commits[1]?.resolve([null]);
  await huge;
});

it('a commit that fails fails all of it, and frees its room', async () => {
  const { queue, commits } = createSlowQueue(100_000);
  const lost = Promise.allSettled([queue.append(largeAppend(40_000)), queue.append(largeAppend(40_000))]);
  await until(() => commits.length === 1);
  commits[0]?.reject(new Error('the disk is full'));
  expect((await lost).map((each) => each.status)).toEqual(['rejected', 'rejected']);
  const next = queue.append(largeAppend(90_000));
  await until(() => commits.length === 2);
  commits[1]?.resolve([null]);
  await next;
});

it('one commit stays small enough for the next to begin soon', async () => {
  const { queue, commits } = createSlowQueue(1_000_000_000);
  const appends = Array.from({ length: 5 }, () => queue.append(largeAppend(3_000_000)));
  const many = Array.from({ length: 2000 }, () => queue.append(sampleAppend()));
  let answered = 0;
  while (answered < 2005) {
    const reached = answered;
    await until(() => commits.length > 0);
    const commit = commits.shift();
    expect(commit?.appends.length).toBeLessThanOrEqual(512);
    expect(JSON.stringify(commit?.appends).length).toBeLessThan(10_000_000);
    commit?.resolve(commit.appends.map(() => null));
    answered += commit?.appends.length ?? 0;
    expect(answered).toBeGreaterThan(reached);
  }
  await Promise.all([...appends, ...many]);
});

it('what a batch leaves out is stored next, after what other projects wait for', async () => {
  const { queue, commits } = createSlowQueue(1_000_000);
  const own = Array.from({ length: 4 }, () => sampleAppend());
  const stored = own.map((append) => queue.append(append));
  await until(() => commits.length === 1);
  const [later, other] = [sampleAppend(), { ...sampleAppend(), projectNumber: 77 }];
  // The second batch is under way.
  const beside = queue.append(sampleAppend());
  await until(() => commits.length === 2);
  stored.push(queue.append(later), queue.append(other));
  commits[0]?.resolve([null]);
  await stored[0];
  await until(() => commits.length === 3);
  expect(commits[2]?.appends).toEqual([other, ...own.slice(1), later]);
  for (const commit of commits.slice(1)) commit.resolve(commit.appends.map(() => null));
  await Promise.all([...stored, beside]);
});

it('a writer that says nothing of a batch fails it', async () => {
  const { queue, commits } = createSlowQueue(1_000_000);
  const stored = queue.append(sampleAppend());
  await until(() => commits.length === 1);
  commits[0]?.resolve([]);
  await expect(stored).rejects.toThrow('no outcome for a batch');
});
