/** A table of budgets with what is spent, reserved and left of each. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { useInfiniteQuery } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import { type Budget, BudgetService, type ListBudgetsRequestSchema } from '../../../gen/spandrel/v1/budgets_pb.js';
import { BudgetOnBreach, BudgetWindow } from '../../../gen/spandrel/v1/gateway_pb.js';
import { Badge } from '../design/button.tsx';
import { formatCost, formatShare, nameControls } from '../design/format.ts';
import { inPages, RecordList } from '../design/frame.tsx';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { PAGING } from '../design/page.tsx';
import { amountsOf, type BudgetRoom } from './amounts.ts';
import { labelIn, WINDOWS } from './budget-enums.ts';
import styles from './budgets.module.css';
import { useScopeLabel } from './scope-label.ts';

const PAGE_SIZE = 100;
/** Requests in flight change what is reserved all the time. */
const POLL_INTERVAL_MS = 10_000;

type BudgetListProps = {
  readonly input: Omit<MessageInitShape<typeof ListBudgetsRequestSchema>, '$typeName' | '$unknown' | 'pageToken'>;
  /** Says what to do where there is none. */
  readonly empty: string;
};

export function BudgetList({ input, empty }: BudgetListProps) {
  const scopeLabel = useScopeLabel();
  const found = useInfiniteQuery(
    BudgetService.method.listBudgets,
    { ...input, pageSize: PAGE_SIZE, pageToken: '' },
    { ...PAGING, refetchInterval: POLL_INTERVAL_MS },
  );
  const row = (budget: Budget) => {
    const amounts = amountsOf(budget);
    return (
      <tr key={budget.id}>
        <td>
          <Link to="/-/budgets/$budgetId" params={{ budgetId: budget.id }}>
            {nameControls(budget.name ?? '')}
          </Link>{' '}
          <BudgetState budget={budget} />
        </td>
        <td>{scopeLabel(budget.scope)}</td>
        <td className={page.nowrap}>{labelIn(WINDOWS, budget.window)}</td>
        <Usd usd={amounts.limit} />
        <Usd usd={amounts.spent} />
        <Usd usd={amounts.reserved} />
        <td className={styles.left}>
          {amounts.room === null ? (
            <span className={page.soft}>each has the limit</span>
          ) : (
            <>
              <Left room={amounts.room} />
              <BudgetMeter room={amounts.room} />
            </>
          )}
        </td>
        <td className={page.nowrap}>
          <Resets budget={budget} />
        </td>
        <td>{budget.onBreach === BudgetOnBreach.WARN ? 'warns' : 'blocks'}</td>
      </tr>
    );
  };
  return (
    <RecordList
      found={found}
      items={inPages}
      empty={{ title: 'No budget here', text: empty }}
      columns={[
        ...['Name', 'Counts', 'Period'],
        ...['Limit', 'Spent', 'Reserved'].map((number) => ({ number })),
        ...['Left', 'Resets', 'When spent'],
      ]}
      row={row}
    />
  );
}

function Usd({ usd }: { readonly usd: string }) {
  return (
    <td className={page.number} title={`$${usd}`}>
      {formatCost(Number(usd))}
    </td>
  );
}

type RoomProps = { readonly room: BudgetRoom };

export function Left({ room: { left } }: RoomProps) {
  const isOver = left.startsWith('-');
  const usd = isOver ? left.slice(1) : left;
  return (
    <span title={`$${usd}`}>
      {formatCost(Number(usd))}
      {isOver && ' over'}
    </span>
  );
}

type BudgetProps = { readonly budget: Budget };

export function BudgetState({ budget }: BudgetProps) {
  if (budget.archivedAt) return <Badge>archived</Badge>;
  const { spentShare } = amountsOf(budget).room ?? { spentShare: 0 };
  if (spentShare < NEARLY_SPENT) return null;
  return <Badge tone={spentShare < 1 ? 'warn' : 'bad'}>{spentShare < 1 ? 'nearly spent' : 'spent'}</Badge>;
}

/** At this share webhooks are told. */
const NEARLY_SPENT = 0.8;

/** A bar of what is spent and reserved of a limit. */
export function BudgetMeter({ room: { spentShare, reservedShare } }: RoomProps) {
  const used = spentShare + reservedShare;
  const tone = used < NEARLY_SPENT ? styles.spent : used < 1 ? styles.nearly : styles.full;
  return (
    <div
      className={styles.meter}
      role="meter"
      aria-label="Spent and reserved"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(100 * used)}
      aria-valuetext={`${formatShare(spentShare)} spent, ${formatShare(reservedShare)} reserved`}
    >
      <span className={tone} style={{ width: `${100 * spentShare}%` }} />
      <span className={styles.reserved} style={{ width: `${100 * reservedShare}%` }} />
    </div>
  );
}

export function Resets({ budget }: BudgetProps) {
  if (budget.archivedAt) return <>no more</>;
  if (budget.resetsAt) return <Instant at={budget.resetsAt} />;
  return <>{budget.window === BudgetWindow.MANUAL ? 'by hand' : 'never'}</>;
}
