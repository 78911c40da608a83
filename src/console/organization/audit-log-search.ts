/** The search parameters of the audit log. */

import { type RangeSearch, readRange } from '../traces/range.ts';

export const FILTERS = ['action', 'outcome', 'target', 'user', 'key'] as const;
export type FilterName = (typeof FILTERS)[number];

type AuditLogSearch = RangeSearch & { readonly [name in FilterName]?: string };

export function readAuditLogSearch(raw: Record<string, unknown>): AuditLogSearch {
  const given = FILTERS.filter((name) => typeof raw[name] === 'string' && raw[name] !== '');
  return { ...readRange(raw), ...Object.fromEntries(given.map((name) => [name, String(raw[name])])) };
}
