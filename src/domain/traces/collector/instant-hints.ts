/** Hints at how an instant was probably meant that is not milliseconds since the epoch. */

import { looksLikeSeconds } from '../../reasons.ts';

/** The smallest first, with how many of them are a millisecond. */
const SMALLER_UNITS = [
  { name: 'nanoseconds', perMs: 1_000_000 },
  { name: 'microseconds', perMs: 1000 },
];

/** The end of a reason to refuse an instant in the far future; empty where the unit is not the mistake. */
export function smallerUnitHint(sent: number): string {
  const unit = SMALLER_UNITS.find(({ perMs }) => looksLikeSeconds(sent / perMs / 1000));
  return unit === undefined ? '' : `; ${sent} looks like ${unit.name}, divide by ${unit.perMs}`;
}

const DATE = /^\d{4}-\d{2}-\d{2}/;

/** The end of a reason to refuse something else than a number; empty where it is not a date. */
export function dateTextHint(sent: unknown): string {
  return typeof sent === 'string' && DATE.test(sent) ? ', the milliseconds since the epoch, not a text' : '';
}
