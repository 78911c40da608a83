/** The search parameters of the spend page. */

import { type RangeSearch, readRange } from '../traces/range.ts';

const GROUPS = ['project', 'model', 'virtual-key', 'principal', 'end-user', 'label'] as const;
export type SpendGroupName = (typeof GROUPS)[number];

export type SpendSearch = RangeSearch & { readonly by?: SpendGroupName };

export function readSpendSearch(raw: Record<string, unknown>): SpendSearch {
  const by = GROUPS.find((name) => name === raw.by);
  return { ...readRange(raw), ...(by && { by }) };
}
