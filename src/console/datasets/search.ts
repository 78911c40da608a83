/** The search parameters of the dataset page. */

import { oneOf, type RawSearch, readerOf } from '../layout/search.ts';
import { finderReaderOf } from '../traces/search.ts';

/** The filters select the traces to add. */
const readFinder = finderReaderOf({ tab: oneOf('traces') });
/** Pages are counted from 1. */
const readEntries = readerOf({ version: count, page: count });

type DatasetSearch = ReturnType<typeof readFinder> & ReturnType<typeof readEntries>;

export function readDatasetSearch(raw: RawSearch): DatasetSearch {
  return raw.tab === 'traces' ? readFinder(raw) : readEntries(raw);
}

function count(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined;
}
