/**
 * One answer about a trace holds so much of its evaluations, and then of its spans, as fits; the next page goes on
 * where it ended. A page has at least one of them, so whoever follows the cursors gets everything once.
 */

import { evaluationBytes, spanBytes } from './answer-size.ts';
import type { CursorCodec, Position } from './cursor.ts';
import { Fault } from './fault.ts';
import type { ListPlace, StoredTrace, TraceStore } from './store.ts';
import type { Evaluation, Span } from './trace.ts';

export type TracePage = {
  readonly evaluations: readonly Evaluation[];
  readonly spans: readonly Span[];
  /** Null: nothing is left. */
  readonly nextCursor: string | null;
  /** Whether the next page begins with evaluations. */
  readonly isShortOfEvaluations: boolean;
};

export type PageQuestion = {
  readonly trace: StoredTrace & { readonly traceId: string };
  readonly spansMax: number;
  /** Where the page begins. */
  readonly start: PageStart;
};

/** What a page may hold, known before anything of it is loaded. */
export type PagePlan = PageQuestion & {
  /** One more of each than the page may hold tells that it goes on. */
  readonly evaluationPlaces: readonly SizedPlace[];
  readonly spanPlaces: readonly SizedPlace[];
  /** What all of it takes. */
  readonly bytes: number;
  /** What its first item takes, which is given however large it is. */
  readonly firstBytes: number;
};

/** The list that a page begins with, and after which of it; null: with its first. */
export type PageStart = { readonly list: 'evaluations' | 'spans'; readonly after: ListPlace | null };

export type PageCursors = {
  /** Throws invalid_cursor. An empty text is the first page. */
  open(cursor: string): PageStart;
  seal(start: PageStart): string;
};

const EVALUATIONS_MAX = 10_000;
/** Read at once; one item alone may be larger. */
const CHUNK_MAX_BYTES = 1024 * 1024;
const CHUNK_ITEMS_MAX = 250;
/** Stands before all ids in the cursors of evaluations. Those of spans have an instant there. */
const EVALUATIONS = 'evaluations';
const BEFORE_ALL: ListPlace = { atMs: 0, id: '' };

export function createPageCursors(cursors: CursorCodec, binding: readonly string[]): PageCursors {
  return {
    open(cursor) {
      if (cursor === '') return { list: 'evaluations', after: null };
      const start = startOf(cursors.open(binding, cursor) ?? []);
      if (start === null) throw new Fault('invalid_cursor', 'The cursor is not valid for this trace.');
      return start;
    },
    seal({ list, after }) {
      const { atMs, id } = after ?? BEFORE_ALL;
      return cursors.seal(binding, list === 'spans' ? [atMs, id] : [EVALUATIONS, atMs, id]);
    },
  };
}

function startOf(position: Position): PageStart | null {
  const list = position[0] === EVALUATIONS ? 'evaluations' : 'spans';
  const [atMs, id] = list === 'spans' ? position : position.slice(1);
  return typeof atMs === 'number' && typeof id === 'string' ? { list, after: { atMs, id } } : null;
}

/** Looks at the order and the sizes of what a page could hold. */
export async function planPage(store: TraceStore, question: PageQuestion): Promise<PagePlan> {
  const { trace, start, spansMax } = question;
  const isFirst = start.list === 'evaluations';
  const evaluationPlaces = isFirst
    ? await store.evaluationOrder(trace, { after: start.after, limit: EVALUATIONS_MAX + 1 })
    : [];
  const spanPlaces = await store.spanOrder(trace, { after: isFirst ? null : start.after, limit: spansMax + 1 });
  let bytes = 0;
  for (const place of evaluationPlaces) bytes += place.bytes;
  for (const place of spanPlaces) bytes += place.bytes;
  const firstBytes = (evaluationPlaces[0] ?? spanPlaces[0])?.bytes ?? 0;
  return { ...question, evaluationPlaces, spanPlaces, bytes, firstBytes };
}

/** Loads as much of the plan as has room in `maxBytes`. */
export async function readPage(
  store: TraceStore,
  cursors: PageCursors,
  { maxBytes, ...plan }: PagePlan & { readonly maxBytes: number },
): Promise<TracePage> {
  const { trace, start, spansMax, evaluationPlaces, spanPlaces } = plan;
  const room: Room = { leftBytes: maxBytes, isEmpty: true };
  const evaluations = await fill(room, evaluationPlaces.slice(0, EVALUATIONS_MAX), toEvaluations(store, trace));
  if (evaluations.length < evaluationPlaces.length) {
    const after = evaluationPlaces[evaluations.length - 1] ?? start.after;
    const nextCursor = cursors.seal({ list: 'evaluations', after });
    return { evaluations, spans: [], nextCursor, isShortOfEvaluations: true };
  }
  const spans = await fill(room, spanPlaces.slice(0, spansMax), toSpans(store, trace));
  const isShortOfEvaluations = false;
  if (spans.length === spanPlaces.length) return { evaluations, spans, nextCursor: null, isShortOfEvaluations };
  const after = spanPlaces[spans.length - 1] ?? (start.list === 'spans' ? start.after : null);
  return { evaluations, spans, nextCursor: cursors.seal({ list: 'spans', after }), isShortOfEvaluations };
}

/** Where an evaluation stands in the list of them. */
export function evaluationPlace({ insertedAtMs, evaluationId }: Evaluation): ListPlace {
  return { atMs: insertedAtMs, id: evaluationId };
}

/** Where a span stands in the list of them. */
export function spanPlace({ startedAtMs, spanId }: Span): ListPlace {
  return { atMs: startedAtMs, id: spanId };
}

/** The evaluations that have room, from the first on, and what is to be said of the others; null when there are none. */
export async function readEvaluations(
  store: TraceStore,
  trace: StoredTrace,
  { maxBytes, countAnswer }: EvaluationRoom,
): Promise<{ readonly evaluations: readonly Evaluation[]; readonly untold: string | null }> {
  const places = await store.evaluationOrder(trace, { after: null, limit: EVALUATIONS_MAX + 1 });
  const bytes = places.reduce((sum, place) => sum + place.bytes, 0);
  countAnswer(Math.min(Math.max(maxBytes, places[0]?.bytes ?? 0), bytes));
  const room: Room = { leftBytes: maxBytes, isEmpty: true };
  const evaluations = await fill(room, places.slice(0, EVALUATIONS_MAX), toEvaluations(store, trace));
  const count = places.length - evaluations.length;
  const atLeast = places.length > EVALUATIONS_MAX ? 'at least ' : '';
  return { evaluations, untold: count === 0 ? null : `… ${atLeast}${count} more evaluations` };
}

type EvaluationRoom = {
  readonly maxBytes: number;
  /** Told before anything is loaded; throws the unavailable Fault where there is no room for it. */
  readonly countAnswer: (bytes: number) => void;
};

type Room = { leftBytes: number; isEmpty: boolean };
type SizedPlace = ListPlace & { readonly bytes: number };

type Items<T> = {
  readonly load: (ids: readonly string[]) => Promise<readonly T[]>;
  readonly bytesOf: (item: T) => number;
};

function toEvaluations(store: TraceStore, trace: StoredTrace): Items<Evaluation> {
  return { load: (ids) => store.evaluations(trace, ids), bytesOf: evaluationBytes };
}

function toSpans(store: TraceStore, trace: StoredTrace & { readonly traceId: string }): Items<Span> {
  return { load: (ids) => store.spans(trace, ids), bytesOf: (span) => spanBytes(span, trace.traceId) };
}

/** The first of the items, as many as have room. */
async function fill<T>(room: Room, places: readonly SizedPlace[], { load, bytesOf }: Items<T>): Promise<T[]> {
  const found: T[] = [];
  let next = 0;
  while (next < places.length) {
    const chunk = chunkFrom(places, next, room.leftBytes);
    for (const item of await load(chunk)) {
      const bytes = bytesOf(item);
      if (bytes > room.leftBytes && !room.isEmpty) return found;
      room.leftBytes -= bytes;
      room.isEmpty = false;
      found.push(item);
    }
    next += chunk.length;
  }
  return found;
}

/** What is read next: little enough to be read at once, and not much more than has room. */
function chunkFrom(places: readonly SizedPlace[], start: number, leftBytes: number): readonly string[] {
  const maxBytes = Math.min(CHUNK_MAX_BYTES, leftBytes);
  const ids: string[] = [];
  let bytes = 0;
  for (let index = start; index < places.length && ids.length < CHUNK_ITEMS_MAX; index += 1) {
    const place = places[index];
    if (place === undefined) break;
    bytes += place.bytes;
    if (ids.length > 0 && bytes > maxBytes) break;
    ids.push(place.id);
  }
  return ids;
}
