/** The sums of some requests: as facts, and as cells of a table. */

import type { SpendAmounts } from '../../../gen/spandrel/v1/spend_pb.js';
import { type Fact, Facts } from '../design/facts.tsx';
import { formatCost, formatCount } from '../design/format.ts';
import page from '../design/page.module.css';

export function TotalCard({ total: { requests, errors, unpricedRequests, cost } }: { readonly total: SpendAmounts }) {
  const facts: readonly Fact[] = [
    ['Cost', costOf(cost)],
    ['Requests', formatCount(requests)],
    ['Failed', formatCount(errors)],
    ['Without a price', formatCount(unpricedRequests)],
  ];
  return (
    <div className={`${page.card} ${page.padded}`}>
      <Facts facts={facts} />
    </div>
  );
}

const AMOUNTS = ['Requests', 'Failed', 'Without a price', 'Input tokens', 'Output tokens', 'Cost'];

export const AMOUNT_COLUMNS = AMOUNTS.map((number) => ({ number }));

type AmountCellsProps = { readonly amounts: SpendAmounts };

export function AmountCells({ amounts: { requests, errors, unpricedRequests, usage, cost } }: AmountCellsProps) {
  return (
    <>
      {[requests, errors, unpricedRequests, usage?.inputTokens, usage?.outputTokens].map((count, index) => (
        <td key={AMOUNTS[index]} className={page.number}>
          {formatCount(count)}
        </td>
      ))}
      <td className={page.number} title={cost && `$${cost.totalUsd}`}>
        {costOf(cost)}
      </td>
    </>
  );
}

function costOf(cost: SpendAmounts['cost']): string {
  return formatCost(cost && Number(cost.totalUsd));
}
