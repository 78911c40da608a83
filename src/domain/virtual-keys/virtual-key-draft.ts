/** The fields of a virtual key as a request sends them, and the problems that show without stored data. */

import { parseLossless } from '../../json/bounded-json.ts';
import { isObject, stringifyLossless } from '../../json/lossless-json.ts';
import { futureProblems, type UnscopedDraft, unscopedProblems } from '../budgets/budget-draft.ts';
import type { Reason } from '../fault.ts';
import { customReason, lengthReason, reasonsWithin, typeReason } from '../reasons.ts';
import { hasMoreBytesThan } from '../text-limits.ts';
import { DEFAULT_CONFIG, type VirtualKeyConfig } from './virtual-key.ts';

/** Members of a group as sent. Undefined: not sent; null: without a value, which is the default. */
type Sent<Group> = { readonly [Name in keyof Group]?: Group[Name] | null | undefined };

/** A config as sent, member by member. */
export type ConfigDraft = Sent<Omit<VirtualKeyConfig, 'fallback' | 'rateLimits' | 'cache' | 'guardrails'>> & {
  readonly fallback?: Sent<VirtualKeyConfig['fallback']>;
  readonly rateLimits?: Sent<VirtualKeyConfig['rateLimits']>;
  readonly cache?: Sent<VirtualKeyConfig['cache']>;
  readonly guardrails?: Sent<VirtualKeyConfig['guardrails']>;
};

/** A virtual key as sent. Undefined: not sent; null: sent as null. */
export type VirtualKeyDraft = {
  readonly name?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly principalUserId?: string | null | undefined;
  readonly externalId?: string | null | undefined;
  readonly metadataJson?: string | null | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly expiresAtMs?: number | null | undefined;
  readonly config?: ConfigDraft | undefined;
};

export type NewVirtualKey = VirtualKeyDraft & {
  readonly traceProjectId: string;
  /** A budget of the new key; null: none is made. */
  readonly budget: UnscopedDraft | null;
};

const METADATA_MEMBERS_MAX = 40;
const METADATA_MAX_BYTES = 4_096;
const METADATA_DEPTH_MAX = 32;
/** Later instants have no four-digit year. */
const EXPIRES_AT_MAX_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** All problems of a key that is created or changed. `nowMs` is null for a repeated request: what it names may be past by now. */
export function draftProblems(draft: VirtualKeyDraft, nowMs: number | null): readonly Reason[] {
  const { name, metadataJson, expiresAtMs, config } = draft;
  const found: Reason[] = [];
  if (name === null) found.push(typeReason('name', 'string', 'null'));
  if (name?.trim() === '') found.push(lengthReason('name', '1 to 128 characters that are not all blank'));
  if (metadataJson !== undefined && readMetadata(metadataJson) === null) {
    const expected = `an object of at most ${METADATA_MEMBERS_MAX} members and ${METADATA_MAX_BYTES} bytes`;
    found.push({ field: 'metadata', type: 'custom', message: `metadata must be ${expected}`, expected });
  }
  const expiry = expiryType(expiresAtMs ?? null, nowMs);
  if (expiry !== null) {
    const message = 'expires_at must be later than now and within the year 9999';
    found.push({ field: 'expires_at', type: expiry, message });
  }
  for (const stage of ['pre', 'post'] as const) {
    if (hasRepeats(config?.guardrails?.[stage] ?? [])) found.push(repeated(`config.guardrails.${stage}`));
  }
  if (hasRepeats(config?.providers ?? [])) found.push(repeated('config.providers'));
  return found;
}

function expiryType(expiresAtMs: number | null, nowMs: number | null): 'too_small' | 'too_big' | null {
  if (expiresAtMs === null) return null;
  if (nowMs !== null && expiresAtMs <= nowMs) return 'too_small';
  return expiresAtMs > EXPIRES_AT_MAX_MS ? 'too_big' : null;
}

/** As `draftProblems`, with those of the budget that is made with the key. */
export function creationProblems(draft: NewVirtualKey, nowMs: number | null): readonly Reason[] {
  const { budget } = draft;
  const ofTime = budget === null || nowMs === null ? [] : futureProblems(budget, nowMs);
  const ofBudget = budget === null ? [] : [...unscopedProblems(budget), ...ofTime];
  return [...draftProblems(draft, nowMs), ...reasonsWithin('budget', ofBudget)];
}

/** The compact JSON text of an object that may be stored; null: it is none. */
export function readMetadata(json: string | null): string | null {
  if (json === null || hasMoreBytesThan(json, 2 * METADATA_MAX_BYTES)) return null;
  const parsed = parseLossless(json, { depth: METADATA_DEPTH_MAX, members: METADATA_MEMBERS_MAX });
  if (parsed.kind !== 'value' || !isObject(parsed.value)) return null;
  const text = stringifyLossless(parsed.value);
  return hasMoreBytesThan(text, METADATA_MAX_BYTES) || text.includes('\\u0000') ? null : text;
}

/** The config with the members that were sent. A group keeps the members that were not. */
export function mergeConfig(before: VirtualKeyConfig, draft: ConfigDraft): VirtualKeyConfig {
  const { fallback, rateLimits, cache, guardrails, ...single } = draft;
  return {
    ...mergeSent(before, DEFAULT_CONFIG, single),
    fallback: mergeSent(before.fallback, DEFAULT_CONFIG.fallback, fallback ?? {}),
    rateLimits: mergeSent(before.rateLimits, DEFAULT_CONFIG.rateLimits, rateLimits ?? {}),
    cache: mergeSent(before.cache, DEFAULT_CONFIG.cache, cache ?? {}),
    guardrails: mergeSent(before.guardrails, DEFAULT_CONFIG.guardrails, guardrails ?? {}),
  };
}

function mergeSent<Group extends object>(before: Group, defaults: Group, sent: Sent<Partial<Group>>): Group {
  const merged = Object.keys(before).map((name) => {
    const member = name as keyof Group;
    const value = sent[member];
    return [name, value === undefined ? before[member] : (value ?? defaults[member])];
  });
  return Object.fromEntries(merged) as Group;
}

function hasRepeats(ids: readonly string[]): boolean {
  return new Set(ids).size < ids.length;
}

function repeated(field: string): Reason {
  return customReason(field, `${field} must not name anything twice`);
}
