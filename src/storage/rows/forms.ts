/** Stored forms of values that the databases share. None of them is given a null. */

import {
  attemptOutcomes,
  type Codes,
  deadReasons,
  deliveryStatuses,
  packTyped,
  replayCounts,
  replayStatuses,
  spanTypes,
  unpackTyped,
} from './codes.ts';

/** How a value is stored, and read back. */
export type Form = {
  readonly store: (value: never) => unknown;
  readonly read: (stored: never) => unknown;
  /** What a null is read as; null unless it is given. */
  readonly ofNull?: unknown;
};

export const SHARED_FORMS = {
  plain: { store: asIs, read: asIs },
  json: { store: (value: object) => JSON.stringify(value), read: (stored: string) => JSON.parse(stored) },
  typedText: { store: packTyped, read: unpackTyped },
  attemptOutcomes: formOf(attemptOutcomes),
  deadReasons: formOf(deadReasons),
  deliveryStatuses: formOf(deliveryStatuses),
  replayCounts: formOf(replayCounts),
  replayStatuses: formOf(replayStatuses),
  spanTypes: formOf(spanTypes),
} satisfies Readonly<Record<string, Form>>;

function asIs(value: unknown): unknown {
  return value;
}

function formOf<Value extends string>({ code, value }: Codes<Value>) {
  return { store: code, read: value };
}
