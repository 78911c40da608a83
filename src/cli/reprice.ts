/** Reprices stored spans, directly in the database. */

import { nanoToUsdText } from '../domain/pricing/money.ts';
import { readPriceList } from '../domain/pricing/price-list.ts';
import { createPriceResolver } from '../domain/pricing/prices.ts';
import { createPricing } from '../domain/pricing/pricing.ts';
import { type RepriceResult, reprice as repriceSpans } from '../domain/pricing/reprice.ts';
import { runWithoutPauses } from '../domain/steps.ts';
import { createCopyProgress } from './copy-progress.ts';
import { withDatabase } from './database.ts';
import type { CommandIo } from './io.ts';
import { formatPosition, type RepriceCommand } from './reprice-arguments.ts';

const WHOLE = 100;

/** Resolves with what to print. Rejects with one line for the operator. */
export function reprice(io: CommandIo, command: RepriceCommand): Promise<string> {
  return withDatabase(io, async ({ store }) => {
    const progress = createCopyProgress(io.stderr, () => performance.now());
    const stop = listenForStop();
    try {
      const result = await repriceSpans(
        {
          store,
          prices: createPriceResolver({
            pricing: createPricing(readPriceList()),
            store: store.management,
            runCooperatively: async (steps) => runWithoutPauses(steps),
          }),
          nowMs: Date.now,
          report: (share) =>
            progress.report({ action: 'price', table: 'traces', rows: share * WHOLE, totalRows: WHOLE }),
          isStopped: stop.isStopped,
        },
        command,
      );
      progress.end();
      return textOf(result, command);
    } finally {
      progress.end();
      stop.end();
    }
  });
}

/** The first signal ends repricing after the current step, a second one ends the process. */
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

function textOf(result: RepriceResult, { isDryRun, emits }: RepriceCommand): string {
  const { traces, spans, changed, unpricedBefore, unpricedAfter, beforeNanoUsd, afterNanoUsd, stoppedAt } = result;
  const requests = emits
    ? `corrected ${result.requests} requests, each by an event`
    : `changed the stored cost of ${result.requests} requests; spend and events follow with --emit`;
  const verb = isDryRun ? 'would change' : 'changed';
  const lines = [
    `looked at ${spans} spans of ${traces} traces`,
    `${verb} the cost of ${changed} spans`,
    `before: ${usdOf(beforeNanoUsd)} USD, ${unpricedBefore} of them without a price`,
    `after:  ${usdOf(afterNanoUsd)} USD, ${unpricedAfter} of them without a price`,
    ...(isDryRun ? [] : [requests]),
    ...(stoppedAt === null ? [] : [`stopped; go on with the same options and --after ${formatPosition(stoppedAt)}`]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Formats a sum, which may be larger than a single cost can be. */
function usdOf(nanoUsd: bigint): string {
  const nanoPerUsd = 1_000_000_000n;
  const fraction = nanoToUsdText(Number(nanoUsd % nanoPerUsd));
  return `${nanoUsd / nanoPerUsd}${fraction.slice(1)}`;
}
