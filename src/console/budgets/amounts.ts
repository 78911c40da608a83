/** What is left of a budget, exactly. */

import { type Budget, BudgetScopeKind } from '../../../gen/spandrel/v1/budgets_pb.js';

export type BudgetAmounts = {
  /** US dollars; texts are exact. */
  readonly limit: string;
  readonly spent: string;
  readonly reserved: string;
  /** Null where each end user has the limit, but the sums are those of all of them. */
  readonly room: BudgetRoom | null;
};

export type BudgetRoom = {
  /** The limit without what is spent and reserved; negative when they are more. */
  readonly left: string;
  /** Shares of the limit, together at most 1. */
  readonly spentShare: number;
  readonly reservedShare: number;
};

const NANO_DIGITS = 9;

export function amountsOf({ limitUsd = '0', spentUsd, reservedUsd, scope }: Budget): BudgetAmounts {
  const isTemplate = scope?.kind === BudgetScopeKind.ATTRIBUTED_USER;
  return {
    limit: limitUsd,
    spent: spentUsd,
    reserved: reservedUsd,
    room: isTemplate ? null : roomOf(limitUsd, spentUsd, reservedUsd),
  };
}

function roomOf(limitUsd: string, spentUsd: string, reservedUsd: string): BudgetRoom {
  const [limit, spent, reserved] = [nanoOf(limitUsd), nanoOf(spentUsd), nanoOf(reservedUsd)];
  const share = (nano: bigint) => (limit === 0n ? 1 : Math.min(1, Number(nano) / Number(limit)));
  const spentShare = share(spent);
  return {
    left: usdOf(limit - spent - reserved),
    spentShare,
    reservedShare: Math.min(1 - spentShare, share(reserved)),
  };
}

/** Billionths of the dollars of a plain decimal number; 0 for any other text. */
function nanoOf(usd: string): bigint {
  const [, whole = '0', fraction = ''] = /^(\d+)(?:\.(\d{1,9}))?$/.exec(usd) ?? [];
  return BigInt(whole + fraction.padEnd(NANO_DIGITS, '0'));
}

function usdOf(nano: bigint): string {
  const digits = String(nano < 0n ? -nano : nano).padStart(NANO_DIGITS + 1, '0');
  const fraction = digits.slice(-NANO_DIGITS).replace(/0+$/, '');
  return `${nano < 0n ? '-' : ''}${digits.slice(0, -NANO_DIGITS)}${fraction && `.${fraction}`}`;
}
