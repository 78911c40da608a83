/** The settings of catalogue entries: what is known of each, how sent ones are judged, and what is stored. */

import type { JsonValue, Reason } from './fault.ts';
import {
  isLosslessArray,
  isLosslessObject,
  jsonTypeOf,
  type LosslessJson,
  type LosslessObject,
} from './lossless-json.ts';
import { choiceReason, countCodePoints, lengthReason, typeReason } from './reasons.ts';
import { wholeNumberOf } from './whole-number.ts';

export type SettingShape =
  | { readonly kind: 'any' }
  | {
      readonly kind: 'string';
      readonly choices?: readonly string[];
      /** Code points, both ends included. */
      readonly length?: readonly [min: number, max: number];
      /** Whether surrounding whitespace is left out when the length is measured. */
      readonly trimmed?: boolean;
    }
  | { readonly kind: 'number' }
  | { readonly kind: 'integer' }
  | { readonly kind: 'boolean' }
  | {
      readonly kind: 'array';
      readonly items: SettingShape;
      /** Items, both ends included. */
      readonly count?: readonly [min: number, max: number];
    }
  | {
      readonly kind: 'object';
      readonly members: { readonly [key: string]: SettingShape };
      /** Whether every member must be there. */
      readonly complete: boolean;
    };

export type Setting = {
  readonly shape: SettingShape;
  /** What is stored when none is sent; null: nothing. */
  readonly default: JsonValue;
};

export type SettingSet = { readonly [key: string]: Setting };

/** A setting with a default, which also says what it looks like unless a shape says more. */
export function setting(defaultValue: JsonValue, shape: SettingShape = shapeOf(defaultValue)): Setting {
  return { shape, default: defaultValue };
}

/** A setting that stays out of the stored ones until somebody sends it. */
export function unsetSetting(shape: SettingShape): Setting {
  return { shape, default: null };
}

/** Where settings stand in the config of an evaluator. */
const IN_CONFIG = 'config.settings';

/** Adds a reason for every known setting of the wrong shape. Unknown ones are nobody's business. */
export function judgeSettings(settings: SettingSet, sent: LosslessObject, found: Reason[]): void {
  judgeSettingsAt(IN_CONFIG, { settings, sent, found });
}

/** The same for settings that stand elsewhere in a request. */
export function judgeSettingsAt(
  path: string,
  { settings, sent, found }: { readonly settings: SettingSet; readonly sent: LosslessObject; readonly found: Reason[] },
): void {
  for (const [key, value] of Object.entries(sent)) {
    const known = Object.hasOwn(settings, key) ? settings[key] : undefined;
    if (known && value !== null) judgeValue(value, known.shape, { path: `${path}.${key}`, found });
  }
}

/** The defaults, overlaid by what was sent. A null for a known setting means that it was not sent. */
export function overlaySettings(settings: SettingSet, sent: LosslessObject): LosslessObject {
  const defaults = Object.entries(settings).filter(([, known]) => known.default !== null);
  const chosen = Object.entries(sent).filter(([key, value]) => value !== null || !Object.hasOwn(settings, key));
  return Object.fromEntries([
    ...defaults.map(([key, known]): [string, LosslessJson] => [key, known.default]),
    ...chosen,
  ]);
}

function shapeOf(value: JsonValue, inArray = false): SettingShape {
  if (typeof value === 'string') return { kind: 'string' };
  if (typeof value === 'number') return { kind: 'number' };
  if (typeof value === 'boolean') return { kind: 'boolean' };
  if (value === null) return { kind: 'any' };
  if (Array.isArray(value)) {
    const [first] = value;
    return { kind: 'array', items: first === undefined ? { kind: 'any' } : shapeOf(first, true) };
  }
  const members = Object.entries(value).map(([key, member]) => [key, shapeOf(member)]);
  // A table of switches may leave some out; a list item without one of its members says nothing.
  return { kind: 'object', members: Object.fromEntries(members), complete: inArray };
}

type Place = { readonly path: string; readonly found: Reason[] };

function judgeValue(value: LosslessJson | undefined, shape: SettingShape, place: Place): void {
  const { kind } = shape;
  if (kind === 'any') return;
  const received = value === undefined ? 'undefined' : jsonTypeOf(value);
  const fits =
    kind === 'integer' ? value !== undefined && Number.isSafeInteger(wholeNumberOf(value)) : received === kind;
  if (!fits) {
    place.found.push(typeReason(place.path, kind, received));
  } else if (kind === 'string' && typeof value === 'string') judgeString(value, shape, place);
  else if (kind === 'array' && value !== undefined && isLosslessArray(value)) judgeArray(value, shape, place);
  else if (kind === 'object' && value !== undefined && isLosslessObject(value)) judgeObject(value, shape, place);
}

function judgeString(value: string, shape: SettingShape & { kind: 'string' }, { path, found }: Place): void {
  const { choices, length, trimmed } = shape;
  if (choices && !choices.includes(value)) found.push(choiceReason(path, choices, value));
  if (!length) return;
  const count = countCodePoints(trimmed ? value.trim() : value);
  if (count < length[0] || count > length[1]) found.push(lengthReason(path, `${length[0]} to ${length[1]} characters`));
}

function judgeArray(
  value: readonly LosslessJson[],
  shape: SettingShape & { kind: 'array' },
  { path, found }: Place,
): void {
  const { count, items } = shape;
  if (count && (value.length < count[0] || value.length > count[1])) {
    found.push(lengthReason(path, `${count[0]} to ${count[1]} items`));
    return;
  }
  value.forEach((item, index) => {
    judgeValue(item, items, { path: `${path}.${index}`, found });
  });
}

function judgeObject(value: LosslessObject, shape: SettingShape & { kind: 'object' }, { path, found }: Place): void {
  for (const [key, member] of Object.entries(shape.members)) {
    const sent = Object.hasOwn(value, key) ? value[key] : undefined;
    if (sent !== undefined || shape.complete) judgeValue(sent, member, { path: `${path}.${key}`, found });
  }
}
