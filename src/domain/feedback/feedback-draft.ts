/** Validates the feedback that applications send. */

import { numberOf } from '../../json/free-json.ts';
import { jsonTypeOf, type LosslessJson, type LosslessObject } from '../../json/lossless-json.ts';
import { readJsonObject } from '../annotations/json-object.ts';
import type { Reason } from '../fault.ts';
import { customReason, lengthReason, typeReason } from '../reasons.ts';
import { hasMoreBytesThan, hasMoreCharactersThan } from '../text-limits.ts';
import { isValidId } from '../traces/trace-ids.ts';

/** As it was sent; null: not sent. */
export type FeedbackDraft = {
  readonly traceId: string;
  readonly eventType: string;
  readonly metricsJson: string;
  readonly detailsJson: string | null;
  readonly eventId: string | null;
  readonly timestampMs: number | null;
};

export type ReadFeedback = {
  readonly metrics: { readonly [name: string]: number };
  readonly details: { readonly [name: string]: string | number | boolean };
  readonly reasons: readonly Reason[];
};

type Limits = { readonly futureMaxMs: number };

const TYPE = /^[a-z0-9_.-]{1,64}$/;
const MEMBERS_MAX = 50;
/** Metrics and details are not nested. */
const DEPTH_MAX = 10;
const NAME_CHARACTERS_MAX = 128;
const EVENT_ID_CHARACTERS_MAX = 128;
const TEXT_MAX_BYTES = 16 * 1024;
const EARLIEST_MS = 946_684_800_000;

export function readFeedback(
  draft: FeedbackDraft,
  { nowMs, futureMaxMs }: Limits & { readonly nowMs: number },
): ReadFeedback {
  const metrics = readMembers('metrics', draft.metricsJson, readMetric);
  const details = readMembers('event_details', draft.detailsJson ?? '{}', readDetail);
  const reasons = [
    ...(isValidId(draft.traceId) ? [] : [lengthReason('trace_id', ID_FORM)]),
    ...typeProblems(draft.eventType),
    ...metrics.reasons,
    ...details.reasons,
    ...(metrics.reasons.length > 0 ? [] : predefinedProblems(draft.eventType, metrics.members, details.members)),
    ...(draft.eventId === null || isEventId(draft.eventId) ? [] : [lengthReason('event_id', EVENT_ID_FORM)]),
    ...timeProblems(draft.timestampMs, nowMs + futureMaxMs),
  ];
  return { metrics: metrics.members, details: details.members, reasons };
}

const ID_FORM = '1 to 200 characters, none of them a control character';
const EVENT_ID_FORM = `1 to ${EVENT_ID_CHARACTERS_MAX} characters, none of them a control character`;

function isEventId(id: string): boolean {
  return isValidId(id) && !hasMoreCharactersThan(id, EVENT_ID_CHARACTERS_MAX);
}

function typeProblems(type: string): readonly Reason[] {
  if (TYPE.test(type)) return [];
  const message = 'event_type must have 1 to 64 lower-case letters, digits, points, dashes and underscores';
  return [{ field: 'event_type', type: 'invalid_format', message }];
}

type Members<V> = { readonly members: { readonly [name: string]: V }; readonly reasons: readonly Reason[] };

/** `read` returns undefined for a member to leave out, and a reason for one to refuse. */
type ReadMember<V> = (field: string, value: LosslessJson) => V | Reason | undefined;

function readMembers<V extends string | number | boolean>(
  field: string,
  json: string,
  read: ReadMember<V>,
): Members<V> {
  const { object: sent, reason } = readJsonObject(field, json, DEPTH_MAX);
  if (sent === null) return { members: {}, reasons: [reason] };
  const names = Object.keys(sent);
  if (names.length > MEMBERS_MAX)
    return { members: {}, reasons: [lengthReason(field, `at most ${MEMBERS_MAX} members`)] };
  const members: [string, V][] = [];
  const reasons: Reason[] = [];
  for (const name of names) {
    const value = readNamed(field, { name, sent }, read);
    if (typeof value === 'object') reasons.push(value);
    else if (value !== undefined) members.push([name, value]);
  }
  return { members: Object.fromEntries(members), reasons };
}

type Named = { readonly name: string; readonly sent: LosslessObject };

function readNamed<V>(field: string, { name, sent }: Named, read: ReadMember<V>): V | Reason | undefined {
  if (name !== '' && !hasMoreCharactersThan(name, NAME_CHARACTERS_MAX))
    return read(`${field}.${name}`, sent[name] ?? null);
  return customReason(field, `${field} must have names of 1 to ${NAME_CHARACTERS_MAX} characters`);
}

function readMetric(field: string, value: LosslessJson): number | Reason {
  return numberOf(value) ?? typeReason(field, 'number', jsonTypeOf(value));
}

function readDetail(field: string, value: LosslessJson): string | number | boolean | Reason | undefined {
  if (value === null) return undefined;
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string')
    return numberOf(value) ?? typeReason(field, 'string, number or boolean', jsonTypeOf(value));
  return hasMoreBytesThan(value, TEXT_MAX_BYTES) ? lengthReason(field, `at most ${TEXT_MAX_BYTES} bytes`) : value;
}

type Predefined = { readonly metric: string; readonly isValid: (value: number) => boolean; readonly rule: string };

/** The metric that each type with a fixed meaning must have. */
const PREDEFINED: ReadonlyMap<string, Predefined> = new Map([
  ['thumbs_up_down', { metric: 'vote', isValid: (vote: number) => [1, 0, -1].includes(vote), rule: '1, 0 or -1' }],
  ['selected_text', { metric: 'text_length', isValid: (length: number) => length >= 0, rule: 'at least 0' }],
  ['waited_to_finish', { metric: 'finished', isValid: (share: number) => share >= 0 && share <= 1, rule: '0 to 1' }],
]);

function predefinedProblems(
  type: string,
  metrics: ReadFeedback['metrics'],
  details: ReadFeedback['details'],
): readonly Reason[] {
  const predefined = PREDEFINED.get(type);
  if (predefined === undefined) return [];
  const { metric, isValid, rule } = predefined;
  const field = `metrics.${metric}`;
  const value = Object.hasOwn(metrics, metric) ? metrics[metric] : undefined;
  const reasons: Reason[] = [];
  if (value === undefined) reasons.push(typeReason(field, 'number', 'undefined'));
  else if (!isValid(value)) reasons.push(customReason(field, `${field} of ${type} must be ${rule}`));
  const { feedback } = details;
  if (type === 'thumbs_up_down' && feedback !== undefined && typeof feedback !== 'string') {
    reasons.push(typeReason('event_details.feedback', 'string', typeof feedback));
  }
  return reasons;
}

function timeProblems(timestampMs: number | null, latestMs: number): readonly Reason[] {
  if (timestampMs === null || (timestampMs >= EARLIEST_MS && timestampMs <= latestMs)) return [];
  const message = 'timestamp must be milliseconds since the Unix epoch, after 1999 and not in the future';
  return [customReason('timestamp', message)];
}
