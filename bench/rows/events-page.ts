import { type Bench, nameOf, type Row } from '../bench.ts';
import { type Figure, judge } from '../figure.ts';
import { openFilled } from '../filled.ts';
import { createPageCases, type PageCase, pageEvents } from '../load/log-pages.ts';
import { createPageSide, type PageSide } from '../load/page-side.ts';
import { startLimitOn, startServer } from '../sides.ts';

const smallEvents = 100_000;
const turnsPerRound = 10;
const samplesPerTurn = 100;
const connections = [1, 2];
const pageMsMax = 10;
const deepCostMax = 1.3;
const growthMax = 1.5;

type Sides = { readonly reference: PageSide; readonly product: PageSide; readonly small: PageSide };

export const eventsPage: Row = {
  name: 'events-page',
  about: `pages of ${pageEvents} events from a log of 13 months against one range select of as many rows`,
  secondsMax: 3_600,
  async run(bench) {
    if (bench.calibrate) return [];
    if (bench.events <= smallEvents) throw new Error(`--events must be more than ${smallEvents}.`);
    const sides = await openSides(bench);
    const all = Object.values(sides);
    for (const side of all) await side.warmUp();
    for (let round = 1; round <= bench.rounds; round += 1) {
      for (const side of all) side.beginRound();
      // Turns are short, so that disturbances affect all sides.
      for (let turn = 1; turn <= turnsPerRound; turn += 1) {
        for (const count of connections) for (const side of all) await side.yieldToEventLoop(count, samplesPerTurn);
      }
    }
    for (const side of all) {
      for (const line of side.describe()) bench.detail(`  ${line}`);
      await side.program.stop();
    }
    return judgeSides(bench, sides);
  },
};

async function openSides(bench: Bench): Promise<Sides> {
  const filled = await openFilled(bench, bench.events);
  const small = await openFilled(bench, smallEvents);
  const cases = createPageCases(filled);
  const bare = cases.map(({ name, bareRequests }) => ({ name, requests: bareRequests }));
  return {
    reference: createPageSide('reference', bare, await startLimitOn('page', [filled.workspace.databaseUrl])),
    product: createPageSide('product', cases, await startServer(bench, filled.keys, filled.workspace)),
    small: createPageSide(
      `product with ${smallEvents} events`,
      createPageCases(small),
      await startServer(bench, small.keys, small.workspace),
    ),
  };
}

function judgeSides(bench: Bench, { reference, product, small }: Sides): Figure[] {
  const names: readonly PageCase['name'][] = ['first', 'deep', 'day'];
  const prefix = nameOf(bench, 'events-page');
  const slowest = (name: PageCase['name'], count: number): Figure => {
    const value = product.percentileMs(name, count, 99);
    const measured = { name: `${prefix}-${name}-${count}-p99`, value, unit: 'ms' };
    return judge(
      { ...measured, reference: reference.percentileMs(name, count, 99) },
      { of: 'value', atMost: pageMsMax },
    );
  };
  const cost = (name: string, [value, than]: readonly [number, number], atMost: number): Figure =>
    judge({ name: `${prefix}-${name}`, value, unit: 'ms', reference: than }, { of: 'ratio', atMost });
  const medianMs = (side: PageSide, name: PageCase['name']) => side.percentileMs(name, 1, 50);
  return [
    ...names.flatMap((name) => connections.map((count) => slowest(name, count))),
    cost('deep-to-first', [medianMs(product, 'deep'), medianMs(product, 'first')], deepCostMax),
    ...names.map((name) => cost(`growth-${name}`, [medianMs(product, name), medianMs(small, name)], growthMax)),
  ];
}
