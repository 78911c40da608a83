import { join } from 'node:path';
import type { Row } from '../bench.ts';
import { judge } from '../figure.ts';
import { createDirectory, runToEnd } from '../program.ts';

const ENTRY = join(import.meta.dirname, '..', 'load', 'ledger.ts');
const PAIRS_MIN = 4000;

/** What the gateway asks of the store for each request: an admission from a lease, and its outcome, each durable. */
export const gatewayLedger: Row = {
  name: 'gateway-ledger',
  about: 'durable admissions and outcomes of the gateway under two budgets, 256 at once, in one process without HTTP',
  async run(bench) {
    const rates: number[] = [];
    for (let round = 0; round < bench.rounds; round += 1) {
      const folder = createDirectory();
      const said = await runToEnd({
        name: 'ledger',
        entry: ENTRY,
        args: [`sqlite:${join(folder, 'spandrel.db')}`, String(bench.secondsPerRound)],
        env: { PATH: process.env.PATH },
        logFile: join(folder, 'ledger.log'),
      });
      const { perSecond }: { readonly perSecond: number } = JSON.parse(said);
      bench.detail(`  ${Math.round(perSecond)} pairs/s`);
      rates.push(perSecond);
    }
    const median = rates.toSorted((one, other) => one - other)[Math.floor(rates.length / 2)] ?? 0;
    const value = Math.round(median);
    return [
      judge({ name: 'gateway-ledger', value, unit: 'pairs/s', reference: null }, { of: 'value', atLeast: PAIRS_MIN }),
    ];
  },
};
