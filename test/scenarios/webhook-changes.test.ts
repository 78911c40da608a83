import { expect, it } from 'vitest';
import { type Facts, playInterleaving } from '../support/interleaving.ts';
import { drawSeed, inParallel, isFullTier, report, seeded } from '../support/scenario.ts';
import { startWebhookFixture } from '../support/webhook-fixture.ts';

const INTERLEAVINGS = isFullTier ? 1_000 : 20;
/** Each is reported in one interleaving at a time, so that interleavings do not get each other's events. */
const TYPES = ['created', 'rotated', 'disabled', 'enabled', 'revoked'].map((each) => `gateway.virtual_key.${each}`);

const ROUNDS_MAX = 5;

/** Each must have happened, else the runs did not test their guarantee. */
const SOMETIMES = [
  'archive',
  'disable',
  'held, and sent after the endpoint was enabled',
  'in progress while the owner acted',
  'move',
  'roll',
];

it('W5: a change by the owner during sends applies from its answer on, and no event is lost or sent twice', async () => {
  const seed = drawSeed();
  const fixture = await startWebhookFixture({ writer: 'in its thread' });
  const slow = seeded(seed);
  // Sometimes so slow that the owner gets an answer first, on a busy machine too.
  const drawDelayMs = () => (slow() < 0.2 ? 4_000 : Math.floor(slow() * 25));
  fixture.receiver.react = () => ({ kind: 'answer', status: 200, delayMs: drawDelayMs() });
  const facts: Facts = new Map(SOMETIMES.map((fact) => [fact, 0]));
  const broken: string[] = [];
  const free = [...TYPES];
  const listNever = () => SOMETIMES.filter((fact) => facts.get(fact) === 0);
  let played = 0;
  // What has not happened by chance is given more of them.
  for (let round = 0; round < ROUNDS_MAX && (round === 0 || listNever().length > 0); round += 1) {
    const indexes = Array.from({ length: INTERLEAVINGS }, (_, index) => played + index);
    played += INTERLEAVINGS;
    await inParallel(indexes, TYPES.length, async (index) => {
      const type = free.pop() ?? '';
      const interleaving = { fixture, name: `w5-${index}`, type, random: seeded(seed + index), facts };
      const problems = await playInterleaving(interleaving).catch((error) => [`${error}`]);
      broken.push(...problems.map((problem) => `interleaving ${index}: ${problem}`));
      free.push(type);
    });
  }
  await fixture.close();
  const never = listNever();
  const pass = broken.length + never.length === 0;
  report({ id: 'W5', seed, n: played, ...Object.fromEntries(facts), pass });
  expect(broken).toEqual([]);
  expect(never).toEqual([]);
}, 900_000);
