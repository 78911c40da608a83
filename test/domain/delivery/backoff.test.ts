import { expect, it } from 'vitest';
import { type Facts, liveThrough } from '../../support/backoff-fixture.ts';
import { drawPlan } from '../../support/backoff-plan.ts';
import { drawSeed, isFullTier, report, seeded } from '../../support/scenario.ts';

const SEEDS = isFullTier ? 1_000 : 50;
const ENDPOINTS = 1_000;
const TEST_TIMEOUT_MS = 1_200_000;

/** Each must have happened, else the runs did not test their guarantee. */
const SOMETIMES = [
  'a success cleared a streak',
  'dead after 72 h',
  'dead with the last step',
  'delivered by a retry',
  'disabled by a verdict',
  'disabled by maintenance',
  'enabled again during an attempt',
  'hurried',
  'overdue, and delivered',
  'sender faults used a step',
  'planned for the last instant',
  'receiver gone',
  'resumed',
  'sent again',
  'maintenance left the decision to a due attempt',
  'verdict of an earlier destination',
  'waited as the receiver requested',
];

it(
  'W4: over days of outages every attempt is made when it should be, and endpoints are given up after 72 hours',
  () => {
    const seed = drawSeed();
    const facts: Facts = new Map(SOMETIMES.map((fact) => [fact, 0]));
    let attempts = 0;
    for (let index = 0; index < SEEDS; index += 1) {
      const random = seeded(seed + index);
      for (let endpoint = 0; endpoint < ENDPOINTS; endpoint += 1) {
        const plan = drawPlan(random);
        try {
          attempts += liveThrough(plan, random, facts);
        } catch (error) {
          report({ id: 'W4', seed: seed + index, n: attempts, pass: false });
          throw new Error(`endpoint ${endpoint} of seed ${seed + index}`, { cause: error });
        }
      }
    }
    const never = SOMETIMES.filter((fact) => facts.get(fact) === 0);
    const sometimes = Object.fromEntries(facts);
    report({ id: 'W4', seed, n: attempts, ...sometimes, pass: never.length === 0 });
    expect(never).toEqual([]);
  },
  TEST_TIMEOUT_MS,
);
