/** Catalogue entries and their settings: how settings are described, validated and stored. */

import { isArray, isObject, jsonTypeOf, type LosslessJson, type LosslessObject } from '../../json/lossless-json.ts';
import { wholeNumberOf } from '../../json/whole-number.ts';
import type { JsonValue, Reason } from '../fault.ts';
import { choiceReason, countCodePoints, lengthReason, typeReason } from '../reasons.ts';

/** How an evaluator type is run; this server never runs the last four. */
export type RunKind = 'in_process' | 'judge' | 'local_model' | 'cloud' | 'embeddings' | 'not_implemented';

export type ResultKind = 'score' | 'passed' | 'label';

export type CatalogueEntry = {
  readonly id: string;
  readonly name: string;
  /** One sentence. */
  readonly description: string;
  readonly category: 'quality' | 'custom' | 'policy' | 'rag' | 'safety';
  readonly isGuardrail: boolean;
  readonly requiredFields: readonly string[];
  readonly optionalFields: readonly string[];
  /** The members of its results; empty: not declared. */
  readonly results: readonly ResultKind[];
  readonly run: RunKind;
  readonly settings: SettingSet;
};

type Omissible = 'isGuardrail' | 'requiredFields' | 'optionalFields' | 'settings';

/** An entry as it is declared: what it leaves out is false or empty. */
export type DeclaredEntry = Omit<CatalogueEntry, Omissible> & Partial<Pick<CatalogueEntry, Omissible>>;

export type SettingShape =
  | { readonly kind: 'any' }
  | {
      readonly kind: 'string';
      readonly choices?: readonly string[];
      /** Code points; both ends are inclusive. */
      readonly length?: readonly [min: number, max: number];
      /** Whether the length leaves out surrounding whitespace. */
      readonly trimmed?: boolean;
    }
  | { readonly kind: 'number' }
  | { readonly kind: 'integer' }
  | { readonly kind: 'boolean' }
  | {
      readonly kind: 'array';
      readonly items: SettingShape;
      /** Items; both ends are inclusive. */
      readonly count?: readonly [min: number, max: number];
    }
  | {
      readonly kind: 'object';
      readonly members: { readonly [key: string]: SettingShape };
      /** Whether every member is required. */
      readonly complete: boolean;
    };

export type Setting = {
  readonly shape: SettingShape;
  /** Stored when none is sent; null: nothing is stored. */
  readonly default: JsonValue;
};

export type SettingSet = { readonly [key: string]: Setting };

/** A setting with a default, which implies the shape unless one is given. */
export function setting(defaultValue: JsonValue, shape: SettingShape = shapeOf(defaultValue)): Setting {
  return { shape, default: defaultValue };
}

/** A setting without a default. */
export function unsetSetting(shape: SettingShape): Setting {
  return { shape, default: null };
}

/** The path of the settings in the config of an evaluator. */
export const IN_CONFIG = 'config.settings';

/** `path`: where the request has the value. */
type SettingContext = { readonly path: string; readonly found: Reason[] };

/** Adds a reason for every known setting of the wrong shape. Unknown settings are allowed. */
export function validateSettings(settings: SettingSet, sent: LosslessObject, { path, found }: SettingContext): void {
  for (const [key, value] of Object.entries(sent)) {
    const known = Object.hasOwn(settings, key) ? settings[key] : undefined;
    if (known && value !== null) validateValue(value, known.shape, { path: `${path}.${key}`, found });
  }
}

/** The defaults, overridden by the sent settings. Null for a known setting counts as not sent. */
export function overlaySettings(settings: SettingSet, sent: LosslessObject): LosslessObject {
  const chosen = Object.entries(sent).filter(([key, value]) => value !== null || !Object.hasOwn(settings, key));
  return { ...defaultsOf(settings), ...Object.fromEntries(chosen) };
}

const defaults = new WeakMap<SettingSet, LosslessObject>();

function defaultsOf(settings: SettingSet): LosslessObject {
  let found = defaults.get(settings);
  if (!found) {
    const known = Object.entries(settings).filter(([, each]) => each.default !== null);
    found = Object.fromEntries(known.map(([key, each]): [string, LosslessJson] => [key, each.default]));
    defaults.set(settings, found);
  }
  return found;
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
  // A map of switches may be partial; an object in a list must be complete.
  return { kind: 'object', members: Object.fromEntries(members), complete: inArray };
}

function validateValue(value: LosslessJson | undefined, shape: SettingShape, context: SettingContext): void {
  const { kind } = shape;
  if (kind === 'any') return;
  const received = value === undefined ? 'undefined' : jsonTypeOf(value);
  const fits =
    kind === 'integer' ? value !== undefined && Number.isSafeInteger(wholeNumberOf(value)) : received === kind;
  if (!fits) {
    context.found.push(typeReason(context.path, kind, received));
  } else if (kind === 'string' && typeof value === 'string') validateString(value, shape, context);
  else if (kind === 'array' && value !== undefined && isArray(value)) validateArray(value, shape, context);
  else if (kind === 'object' && value !== undefined && isObject(value)) validateObject(value, shape, context);
}

function validateString(
  value: string,
  shape: SettingShape & { kind: 'string' },
  { path, found }: SettingContext,
): void {
  const { choices, length, trimmed } = shape;
  if (choices && !choices.includes(value)) found.push(choiceReason(path, choices, value));
  if (!length) return;
  const count = countCodePoints(trimmed ? value.trim() : value);
  if (count < length[0] || count > length[1]) found.push(lengthReason(path, `${length[0]} to ${length[1]} characters`));
}

function validateArray(
  value: readonly LosslessJson[],
  shape: SettingShape & { kind: 'array' },
  { path, found }: SettingContext,
): void {
  const { count, items } = shape;
  if (count && (value.length < count[0] || value.length > count[1])) {
    found.push(lengthReason(path, `${count[0]} to ${count[1]} items`));
    return;
  }
  value.forEach((item, index) => {
    validateValue(item, items, { path: `${path}.${index}`, found });
  });
}

function validateObject(
  value: LosslessObject,
  shape: SettingShape & { kind: 'object' },
  { path, found }: SettingContext,
): void {
  for (const [key, member] of Object.entries(shape.members)) {
    const sent = Object.hasOwn(value, key) ? value[key] : undefined;
    if (sent !== undefined || shape.complete) validateValue(sent, member, { path: `${path}.${key}`, found });
  }
}
