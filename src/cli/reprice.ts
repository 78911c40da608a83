/** Prices stored spans anew, directly in the database. */

import { nanoToUsdText } from '../domain/money.ts';
import { createPriceBook } from '../domain/pricing/prices.ts';
import { createPricing } from '../domain/pricing/pricing.ts';
import { type RepriceResult, reprice as repriceSpans } from '../domain/pricing/reprice.ts';
import { runAtOnce } from '../domain/steps.ts';
import { readPriceList } from '../price-list.ts';
import { createCopyProgress } from './copy-progress.ts';
import { withDatabase } from './database.ts';
import type { CommandIo } from './io.ts';
import { type RepriceCommand, writePlace } from './reprice-arguments.ts';

const WHOLE = 100;

/** Resolves with what to print. Rejects with one line for the operator. */
export function reprice(io: CommandIo, wish: RepriceCommand): Promise<string> {
  return withDatabase(io, async ({ store }) => {
    const progress = createCopyProgress(io.stderr, () => performance.now());
    const stop = listenForStop();
    try {
      const result = await repriceSpans(
        {
          store,
          prices: createPriceBook({
            pricing: createPricing(readPriceList()),
            store: store.management,
            takeSteps: async (steps) => runAtOnce(steps),
          }),
          nowMs: Date.now,
          report: (share) =>
            progress.report({ action: 'price', table: 'traces', rows: share * WHOLE, totalRows: WHOLE }),
          isStopped: stop.isStopped,
        },
        wish,
      );
      progress.end();
      return textOf(result, wish);
    } finally {
      progress.end();
      stop.end();
    }
  });
}

/** The first signal ends the walk after its step, a second one the process. */
function listenForStop() {
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    end();
  };
  function end(): void {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return { isStopped: () => isStopped, end };
}

function textOf(result: RepriceResult, { isDryRun }: RepriceCommand): string {
  const { traces, spans, changed, unpricedBefore, unpricedAfter, beforeNanoUsd, afterNanoUsd, stoppedAt } = result;
  const verb = isDryRun ? 'would change' : 'changed';
  const lines = [
    `looked at ${spans} spans of ${traces} traces`,
    `${verb} the cost of ${changed} spans`,
    `before: ${usdOf(beforeNanoUsd)} USD, ${unpricedBefore} of them without a price`,
    `after:  ${usdOf(afterNanoUsd)} USD, ${unpricedAfter} of them without a price`,
    ...(stoppedAt === null ? [] : [`stopped; go on with the same options and --after ${writePlace(stoppedAt)}`]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Sums may be larger than what one cost may be. */
function usdOf(nanoUsd: bigint): string {
  const nanoPerUsd = 1_000_000_000n;
  const fraction = nanoToUsdText(Number(nanoUsd % nanoPerUsd));
  return `${nanoUsd / nanoPerUsd}${fraction.slice(1)}`;
}
