/** Reports about results that are far larger than the reports, and reads of runs with very many scores. */

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startTarget, type Target } from '../../support/attack-target.ts';
import { inParallel } from '../../support/scenario.ts';
import { callRest } from '../../support/surfaces.ts';

const REPORTS = 10_000;
const ROUNDS = 20;
const READS = 40;
/** A project may have fewer reads of runs at once than the full size asks for. */
const READS_OF_PROJECT = 16;
const SERVED_MEANWHILE = 60;
const LARGE = 'x'.repeat(120_000);

let target: Target;
let slug: string;
beforeAll(async () => {
  target = await startTarget();
  slug = (await ask('POST', '/api/experiment/init', { experiment_name: 'Hostile' })).slug;
});
beforeEach(() => target.revive());
afterAll(() => target.close());

async function ask(verb: string, path: string, body?: object) {
  const headers = { 'x-auth-token': target.key };
  const answer = await callRest(target.address, { verb, path, headers, ...(body && { body }) });
  expect(answer.status, answer.text.slice(0, 300)).toBe(200);
  return answer.body;
}

const log = (runId: string, body: object) =>
  ask('POST', '/api/evaluations/batch/log_results', { experiment_slug: slug, run_id: runId, ...body });

const largeResult = (index: number) => ({ index, entry: { text: LARGE }, predicted: { text: LARGE } });

it('L1: thousands of evaluations of one large result', async () => {
  await log('one', { dataset: [largeResult(0)] });
  const evaluations = Array.from({ length: REPORTS }, (_, index) => ({ index: 0, name: 'e', score: index }));
  await target.attack({ id: 'L1', n: REPORTS }, async ({ serves }) => {
    await Promise.all([log('one', { evaluations }), serves(SERVED_MEANWHILE)]);
  });
});

it('L2: evaluations of many large results', async () => {
  const indexes = Array.from({ length: 200 }, (_, index) => index);
  for (const start of indexes.filter((index) => index % 20 === 0)) {
    await log('many', { dataset: indexes.slice(start, start + 20).map(largeResult) });
  }
  await target.attack({ id: 'L2', n: ROUNDS }, async ({ serves }) => {
    const report = async (score: number) => {
      await log('many', { evaluations: indexes.map((index) => ({ index, name: 'e', score })) });
    };
    const rounds = Array.from({ length: ROUNDS }, (_, round) => round);
    await Promise.all([inParallel(rounds, 1, report), serves(SERVED_MEANWHILE)]);
  });
});

it('L3: several reads at once of a run with a hundred thousand scores', async () => {
  const evaluations = Array.from({ length: 100 }, (_, index) => ({ name: `e${index}`, score: index }));
  for (let start = 0; start < 1_000; start += 100) {
    await log('scores', {
      dataset: Array.from({ length: 100 }, (_, index) => ({ index: start + index, evaluations })),
    });
  }
  await target.attack({ id: 'L3', n: READS }, async ({ serves }) => {
    const reads = Array.from({ length: READS }, (_, index) => index);
    let servedCount = 0;
    const read = async () => {
      const path = `/api/experiments/${slug}/runs/scores?limit=1`;
      const answer = await callRest(target.address, { verb: 'GET', path, headers: { 'x-auth-token': target.key } });
      // More reads than a project may have at once are told to try again.
      if (answer.status === 503) return expect(answer.headers.get('retry-after')).not.toBeNull();
      expect(answer.status, answer.text.slice(0, 300)).toBe(200);
      expect(answer.body.summary.evaluators).toHaveLength(100);
      servedCount += 1;
    };
    await Promise.all([inParallel(reads, READS, read), serves(SERVED_MEANWHILE)]);
    expect(servedCount).toBeGreaterThanOrEqual(READS_OF_PROJECT);
  });
});

it('L4: reads of a run whose large scores follow results without any', async () => {
  const results = (start: number, count: number, fields: object) =>
    log('late', { dataset: Array.from({ length: count }, (_, index) => ({ index: start + index, ...fields })) });
  await results(0, 525, { entry: {} });
  const evaluations = Array.from({ length: 75 }, (_, index) => ({ name: `${'\u0001'.repeat(250)}${index}`, score: 1 }));
  for (let start = 525; start < 775; start += 5) await results(start, 5, { evaluations });
  await target.attack({ id: 'L4', n: READS / 2 }, async ({ serves }) => {
    const reads = Array.from({ length: READS / 2 }, (_, index) => index);
    const read = async () => void (await ask('GET', `/api/experiments/${slug}/runs/late?limit=1`));
    await Promise.all([inParallel(reads, 2, read), serves(SERVED_MEANWHILE)]);
  });
});
