/** Counts of tokens in what providers tell of the usage. */

import { isObject, type LosslessObject, readMember } from '../../../json/lossless-json.ts';

/** The count of that name, or inside the object of that name; null: none was told. */
export function readTokens(usage: LosslessObject, name: string, inner?: string): number | null {
  const value = readMember(usage, name);
  if (inner !== undefined) return isObject(value) ? readTokens(value, inner) : null;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
