/** Lists of ids for statements that have places for IDS_AT_ONCE of them: SQLite takes no lists. */

import { IDS_AT_ONCE } from '../../questions.ts';
import { packId, type StoredId } from './compact-ids.ts';

/** Of trace or span ids. */
export function packIds(ids: readonly string[]): readonly StoredId[] {
  return fillPlaces(ids.map(packId));
}

/** In the places that are left the last stands again, which finds nothing more. */
export function fillPlaces<Id>(ids: readonly Id[]): readonly Id[] {
  const last = ids.at(-1);
  if (last === undefined || ids.length > IDS_AT_ONCE)
    throw new Error(`a question has room for 1 to ${IDS_AT_ONCE} ids`);
  return [...ids, ...Array.from({ length: IDS_AT_ONCE - ids.length }, () => last)];
}
