/** The search parameters of the dataset page. */

import { type FinderSearch, readFinderSearch } from '../traces/search.ts';

/** The filters select the traces to add. */
export type DatasetSearch = FinderSearch & {
  readonly tab?: 'traces';
  readonly version?: number;
  /** Counted from 1. */
  readonly page?: number;
};

export function readDatasetSearch(raw: Record<string, unknown>): DatasetSearch {
  if (raw.tab === 'traces') return { tab: raw.tab, ...readFinderSearch(raw) };
  const [version, page] = [countOf(raw.version), countOf(raw.page)];
  return { ...(version && { version }), ...(page && page > 1 && { page }) };
}

function countOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined;
}
