/**
 * A page of a trace holds as many of its evaluations, then of its spans, as fit; the next page continues after them.
 * Each page has at least one item, so following the cursors returns every item once.
 */

import { jsonTextsBytes } from '../../json/json-size.ts';
import type { CursorCodec, Position } from '../cursor.ts';
import { Fault } from '../fault.ts';
import type { ShowEvaluation, ShownEvaluation } from './shown-inputs.ts';
import type { ListPosition, SpanPosition, StoredTrace, TraceStore } from './telemetry-port.ts';
import type { Evaluation, Span } from './trace.ts';
import { evaluationBytes, linesBytes, spanBytes } from './trace-size.ts';

type TracePage = {
  readonly evaluations: readonly ShownEvaluation[];
  readonly spans: readonly Span[];
  /** Null: the last page. */
  readonly nextCursor: string | null;
  /** Whether the next page begins with evaluations. */
  readonly isShortOfEvaluations: boolean;
};

type TracePageRequest = {
  readonly trace: StoredTrace & { readonly traceId: string };
  readonly spansMax: number;
  /** Where the page begins. */
  readonly start: PageStart;
};

/** The items a page may hold, sized before any is loaded. */
export type PagePlan = TracePageRequest & {
  /** One item beyond the page's limit shows that more follow. */
  readonly evaluationPositions: readonly (ListPosition & Size)[];
  readonly spanPositions: readonly (SpanPosition & Size)[];
  /** Size of all items. */
  readonly bytes: number;
  /** Size of the first item, which is sent however large it is. */
  readonly firstBytes: number;
};

/** The items that fit a page without a head. */
type LoadedPage = PagePlan & {
  readonly evaluations: readonly Sized<Evaluation>[];
  readonly spans: readonly Sized<Span>[];
};

type ShownPage = Omit<LoadedPage, 'evaluations'> & { readonly evaluations: readonly Sized<ShownEvaluation>[] };

/** The list that a page begins with, and the item before the page; null: none. */
type PageStart =
  | { readonly list: 'evaluations'; readonly after: ListPosition | null }
  | { readonly list: 'spans'; readonly after: SpanPosition | null };

type PageCursors = {
  /** Throws invalid_cursor. An empty text is the first page. */
  open(cursor: string): PageStart;
  seal(start: PageStart): string;
};

const EVALUATIONS_MAX = 10_000;
/** Loaded at once; one item may be larger. */
const CHUNK_MAX_BYTES = 1024 * 1024;
const CHUNK_ITEMS_MAX = 250;
/** First element in cursors of evaluations. Cursors of spans have an instant there. */
const EVALUATIONS = 'evaluations';
export const BEFORE_ALL: SpanPosition = { atMs: 0, startedNs: 0, durationMs: 0, finishedNs: 0, id: '' };

export function createPageCursors(cursors: CursorCodec, binding: readonly string[]): PageCursors {
  return {
    open(cursor) {
      if (cursor === '') return { list: 'evaluations', after: null };
      const start = startOf(cursors.open(binding, cursor) ?? []);
      if (start === null) throw new Fault('invalid_cursor', 'The cursor is not valid for this trace.');
      return start;
    },
    seal(start) {
      if (start.list === 'evaluations') {
        const { atMs, id } = start.after ?? BEFORE_ALL;
        return cursors.seal(binding, [EVALUATIONS, atMs, id]);
      }
      const { atMs, startedNs, durationMs, finishedNs, id } = start.after ?? BEFORE_ALL;
      return cursors.seal(binding, [atMs, startedNs, durationMs, finishedNs, id]);
    },
  };
}

function startOf(position: Position): PageStart | null {
  if (position[0] === EVALUATIONS) {
    const [, atMs, id] = position;
    return typeof atMs === 'number' && typeof id === 'string' ? { list: 'evaluations', after: { atMs, id } } : null;
  }
  const [atMs, startedNs, durationMs, finishedNs, id] = position;
  const isRead =
    typeof atMs === 'number' &&
    typeof startedNs === 'number' &&
    typeof durationMs === 'number' &&
    typeof finishedNs === 'number' &&
    typeof id === 'string';
  return isRead ? { list: 'spans', after: { atMs, startedNs, durationMs, finishedNs, id } } : null;
}

/** Reads positions and sizes of the items that may fit. */
export async function planPage(store: TraceStore, request: TracePageRequest): Promise<PagePlan> {
  const { trace, start, spansMax } = request;
  const evaluationPositions =
    start.list === 'evaluations'
      ? await store.evaluationOrder(trace, { after: start.after, limit: EVALUATIONS_MAX + 1 })
      : [];
  const after = start.list === 'evaluations' ? null : start.after;
  const spanPositions = await store.spanOrder(trace, { after, limit: spansMax + 1 });
  let bytes = 0;
  for (const position of evaluationPositions) bytes += position.bytes;
  for (const position of spanPositions) bytes += position.bytes;
  const firstBytes = (evaluationPositions[0] ?? spanPositions[0])?.bytes ?? 0;
  return { ...request, evaluationPositions, spanPositions, bytes, firstBytes };
}

/** Loads the items of the plan that fit `maxBytes`. */
export async function loadPage(
  store: TraceStore,
  { maxBytes, ...plan }: PagePlan & { readonly maxBytes: number },
): Promise<LoadedPage> {
  const { trace, spansMax, evaluationPositions, spanPositions } = plan;
  const room: Room = { leftBytes: maxBytes, isEmpty: true };
  const evaluations = await fill(room, evaluationPositions.slice(0, EVALUATIONS_MAX), toEvaluations(store, trace));
  const isShort = evaluations.length < evaluationPositions.length;
  const spans = isShort ? [] : await fill(room, spanPositions.slice(0, spansMax), toSpans(store, trace));
  return { ...plan, evaluations, spans };
}

/** Shows the evaluations of the page, which may take more room then. */
export async function showPage(loaded: LoadedPage, show: ShowEvaluation): Promise<ShownPage> {
  return { ...loaded, evaluations: await showEach(loaded.evaluations, show) };
}

async function showEach(
  evaluations: readonly Sized<Evaluation>[],
  show: ShowEvaluation,
): Promise<readonly Sized<ShownEvaluation>[]> {
  const all: Sized<ShownEvaluation>[] = [];
  for (const { item, bytes } of evaluations) {
    const shown = await show(item);
    const { shownInputsJson } = shown;
    const isAsStored = shownInputsJson === item.inputsJson;
    const grownBytes = isAsStored ? 0 : jsonTextsBytes(shownInputsJson) - jsonTextsBytes(item.inputsJson);
    all.push({ item: shown, bytes: bytes + grownBytes });
  }
  return all;
}

/** Leaves out the last items, which do not fit `maxBytes` after all. */
export function cutPage(cursors: PageCursors, loaded: ShownPage, maxBytes: number): TracePage {
  const { start, evaluationPositions, spanPositions } = loaded;
  const room: Room = { leftBytes: maxBytes, isEmpty: true };
  const evaluations = takeFitting(room, loaded.evaluations);
  if (evaluations.length < evaluationPositions.length) {
    const after = evaluationPositions[evaluations.length - 1] ?? start.after;
    const nextCursor = cursors.seal({ list: 'evaluations', after });
    return { evaluations, spans: [], nextCursor, isShortOfEvaluations: true };
  }
  const spans = takeFitting(room, loaded.spans);
  const isShortOfEvaluations = false;
  if (spans.length === spanPositions.length) return { evaluations, spans, nextCursor: null, isShortOfEvaluations };
  const after = spanPositions[spans.length - 1] ?? (start.list === 'spans' ? start.after : null);
  return { evaluations, spans, nextCursor: cursors.seal({ list: 'spans', after }), isShortOfEvaluations };
}

type EvaluationPosition = Pick<Evaluation, 'insertedAtMs' | 'evaluationId'>;

/** Position of an evaluation in their list. */
export function evaluationPosition({ insertedAtMs, evaluationId }: EvaluationPosition): ListPosition {
  return { atMs: insertedAtMs, id: evaluationId };
}

/** Position of a span in their list. */
export function spanPosition({ spanId, startedAtMs, finishedAtMs, startedNs, finishedNs }: Span): SpanPosition {
  return {
    atMs: startedAtMs,
    startedNs: startedNs ?? 0,
    durationMs: finishedAtMs - startedAtMs,
    finishedNs: finishedNs ?? 0,
    id: spanId,
  };
}

/** The first evaluations that fit, and a line that counts the others; null when there are none. */
export async function readEvaluations(
  store: TraceStore,
  trace: StoredTrace,
  { maxBytes, countResponseBytes }: EvaluationRoom,
): Promise<FirstEvaluations> {
  const positions = await store.evaluationOrder(trace, { after: null, limit: EVALUATIONS_MAX + 1 });
  const bytes = positions.reduce((sum, position) => sum + position.bytes, 0);
  countResponseBytes(Math.min(Math.max(maxBytes, positions[0]?.bytes ?? 0), bytes));
  const room: Room = { leftBytes: maxBytes, isEmpty: true };
  const sized = await fill(room, positions.slice(0, EVALUATIONS_MAX), toEvaluations(store, trace));
  const evaluations = sized.map(({ item }) => item);
  const count = positions.length - evaluations.length;
  const atLeast = positions.length > EVALUATIONS_MAX ? 'at least ' : '';
  const { leftBytes } = room;
  return { evaluations, leftBytes, omitted: count === 0 ? null : `… ${atLeast}${count} more evaluations` };
}

type FirstEvaluations = {
  readonly evaluations: readonly Evaluation[];
  /** The room that is left. */
  readonly leftBytes: number;
  readonly omitted: string | null;
};

type EvaluationRoom = {
  readonly maxBytes: number;
  /** Called before items are loaded; throws the unavailable Fault where there is no room. */
  readonly countResponseBytes: (bytes: number) => void;
};

type Room = { leftBytes: number; isEmpty: boolean };
type Size = { readonly bytes: number };
type SizedPosition = ListPosition & Size;
type Sized<T> = { readonly item: T; readonly bytes: number };

type Items<T> = {
  readonly load: (ids: readonly string[]) => Promise<readonly T[]>;
  readonly bytesOf: (item: T) => number;
};

function toEvaluations(store: TraceStore, trace: StoredTrace): Items<Evaluation> {
  return { load: (ids) => store.evaluations(trace, ids), bytesOf: (item) => evaluationBytes(item) + linesBytes(item) };
}

function toSpans(store: TraceStore, trace: StoredTrace & { readonly traceId: string }): Items<Span> {
  return {
    load: (ids) => store.spans(trace, ids),
    bytesOf: (item) => spanBytes(item, trace.traceId) + linesBytes(item),
  };
}

/** Loads items in order while they fit. */
async function fill<T>(
  room: Room,
  positions: readonly SizedPosition[],
  { load, bytesOf }: Items<T>,
): Promise<Sized<T>[]> {
  const found: Sized<T>[] = [];
  let next = 0;
  while (next < positions.length) {
    const chunk = chunkFrom(positions, next, room.leftBytes);
    for (const item of await load(chunk)) {
      const bytes = bytesOf(item);
      if (!fits(room, bytes)) return found;
      found.push({ item, bytes });
    }
    next += chunk.length;
  }
  return found;
}

function takeFitting<T>(room: Room, sized: readonly Sized<T>[]): T[] {
  const items: T[] = [];
  for (const { item, bytes } of sized) {
    if (!fits(room, bytes)) break;
    items.push(item);
  }
  return items;
}

/** Takes the bytes from the room if they fit. The first item fits whatever its size. */
function fits(room: Room, bytes: number): boolean {
  if (bytes > room.leftBytes && !room.isEmpty) return false;
  room.leftBytes -= bytes;
  room.isEmpty = false;
  return true;
}

/** Ids to load next: few enough for one read, and not many more than fit. */
function chunkFrom(positions: readonly SizedPosition[], start: number, leftBytes: number): readonly string[] {
  const maxBytes = Math.min(CHUNK_MAX_BYTES, leftBytes);
  const ids: string[] = [];
  let bytes = 0;
  for (let index = start; index < positions.length && ids.length < CHUNK_ITEMS_MAX; index += 1) {
    const position = positions[index];
    if (position === undefined) break;
    bytes += position.bytes;
    if (ids.length > 0 && bytes > maxBytes) break;
    ids.push(position.id);
  }
  return ids;
}
