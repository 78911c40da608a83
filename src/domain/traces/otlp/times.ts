/** The instants of a span: its own, unless attributes tell others. */

import {
  isUnreadable,
  type OwnTimes,
  type Sent,
  type SpanDraft,
  type Unreadable,
  unreadable,
} from '../collector/collector-draft.ts';
import { isBlank, toFigure } from '../collector/collector-json.ts';
import { FIRST_TOKEN_DELAYS, FIRST_TOKEN_EVENTS, FIRST_TOKEN_INSTANTS } from './attribute-table.ts';
import { nanosBeyond, toInstantMs } from './instants.ts';
import type { OtlpSpan } from './span.ts';
import type { SpanView } from './span-view.ts';

type Times = OwnTimes & Pick<SpanDraft, 'firstTokenAt' | 'ownTimes'>;

export type TimesRead = { readonly times: Times; readonly dropped: readonly Unreadable[] };

const FIRST_TOKEN = 'timestamps.first_token_at';

export function timesOf({ span, timestamps }: SpanView): TimesRead {
  const { startNano } = span;
  const endNano = span.endNano === 0n ? startNano : span.endNano;
  const dropped: Unreadable[] = [];
  const unlessWrong = (sent: Sent<number>): number | undefined => {
    if (!isUnreadable(sent)) return sent;
    dropped.push(sent);
    return undefined;
  };
  const startedAt = unlessWrong(toFigure(timestamps.started_at, 'timestamps.started_at'));
  const finishedAt = unlessWrong(toFigure(timestamps.finished_at, 'timestamps.finished_at'));
  const firstTokenAt = unlessWrong(toFigure(timestamps.first_token_at, FIRST_TOKEN));
  const own: OwnTimes = {
    startedAt: toInstantMs(startNano, 'startTimeUnixNano'),
    finishedAt: toInstantMs(endNano, span.endNano === 0n ? 'startTimeUnixNano' : 'endTimeUnixNano'),
    startedNs: nanosBeyond(startNano),
    finishedNs: nanosBeyond(endNano),
  };
  const times: Times = {
    ...own,
    ...(startedAt === undefined ? {} : { startedAt, startedNs: undefined }),
    ...(finishedAt === undefined ? {} : { finishedAt, finishedNs: undefined }),
    firstTokenAt: firstTokenAt ?? firstTokenOf(span),
    // Only the collector knows the bounds of instants.
    ownTimes: startedAt === undefined && finishedAt === undefined ? undefined : own,
  };
  return { times, dropped };
}

function firstTokenOf({ events, startNano, attributes, scope }: OtlpSpan): Sent<number> {
  let earliest: bigint | undefined;
  for (const { name, timeNano } of events) {
    // An event without an instant is skipped.
    if (timeNano === 0n || !FIRST_TOKEN_EVENTS.has(name)) continue;
    if (earliest === undefined || timeNano < earliest) earliest = timeNano;
  }
  if (earliest !== undefined) return toInstantMs(earliest, 'events.timeUnixNano');
  for (const [key, unitMs, only] of FIRST_TOKEN_DELAYS) {
    if (only !== undefined && only !== scope.name) continue;
    const delay = toFigure(attributes.get(key), FIRST_TOKEN);
    if (delay === undefined) continue;
    if (isUnreadable(delay)) return delay;
    if (delay < 0) return unreadable(FIRST_TOKEN, 'must not be before the start');
    return Number(startNano) / 1_000_000 + delay * unitMs;
  }
  for (const key of FIRST_TOKEN_INSTANTS) {
    const value = attributes.get(key);
    if (!isBlank(value)) return toFirstToken(value);
  }
  return undefined;
}

/** The text of an instant, which may be in quotes as JSON, or milliseconds since the epoch. */
function toFirstToken(value: unknown): Sent<number> {
  if (typeof value === 'number') return value;
  const ms = typeof value === 'string' ? Date.parse(value.replace(/^"|"$/g, '')) : Number.NaN;
  return Number.isNaN(ms) ? unreadable(FIRST_TOKEN, 'must be an instant in ISO 8601') : ms;
}
