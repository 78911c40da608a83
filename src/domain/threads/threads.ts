/** Lists the threads and the users of a project, each with its first and its last trace. */

import { canonicalJson } from '../../json/canonical-json.ts';
import { tooLongFault } from '../analytics/analytics.ts';
import { readDimensions } from '../analytics/dimensions.ts';
import type { CursorCodec } from '../cursor.ts';
import { invalidCursor } from '../management/listing.ts';
import { requireRange } from '../reasons.ts';
import { cutToCharacters, hasMoreCharactersThan } from '../text-limits.ts';
import { foldText } from '../traces/search/fold-text.ts';
import type { SearchCall } from '../traces/search/search-call.ts';
import { visibleTo } from '../traces/search/trace-search.ts';
import { readRow } from '../traces/trace-row.ts';
import type { TraceRows } from '../traces/trace-rows.ts';
import type { Traces, TraceView } from '../traces/traces.ts';
import type {
  GroupField,
  GroupPosition,
  GroupSort,
  GroupsQuery,
  GroupTrace,
  ListedGroup,
  TraceGroups,
} from './group-store.ts';

export type GroupsRequest = {
  readonly field: GroupField;
  /** Null: the last thirty days, and one day ahead for senders whose clocks run fast. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
  /** Empty: any. */
  readonly query: string;
  readonly conditions: GroupsQuery['conditions'];
  readonly sort: GroupSort;
  readonly isAscending: boolean;
  readonly pageSize: number | null;
  /** Empty: the first page. */
  readonly cursor: string;
};

/** Of a trace; the texts are cut. */
export type ShownTurn = GroupTrace & Excerpt;
type Excerpt = { readonly input: string; readonly output: string; readonly userId: string | null };

export type ShownGroup = Pick<ListedGroup, 'name' | 'totals' | 'scores'> & {
  readonly first: ShownTurn;
  readonly last: ShownTurn;
};

export type GroupPage = {
  readonly groups: readonly ShownGroup[];
  /** Null: the last page. */
  readonly nextCursor: string | null;
  readonly isPartial: boolean;
};

type Call = Omit<SearchCall, 'countResponseBytes'>;

export type Threads = {
  /** Throws validation_error, invalid_cursor, unavailable when the sums take too long. */
  list(request: GroupsRequest, call: Call): Promise<GroupPage>;
};

type ThreadsDeps = {
  readonly store: TraceGroups;
  readonly traces: Pick<Traces, 'get'>;
  readonly rows: TraceRows;
  readonly cursors: CursorCodec;
  /** The term in days of projects without a setting; null: for ever. */
  readonly traceDefaultDays: number | null;
};

const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 30;
const PAGE_SIZE_DEFAULT = 50;
const VALUE_CHARACTERS_MAX = 512;
const EXCERPT_CHARACTERS_MAX = 200;
/** Rows read together; of traces that are read one by one fewer, as each may be long. */
const ROWS_AT_ONCE = 100;
const READ_AT_ONCE = 8;

type Walk = { readonly fromMs: number; readonly toMs: number; readonly after: GroupPosition | null };

export function createThreads({ store, traces, rows, cursors, traceDefaultDays }: ThreadsDeps): Threads {
  function open(cursor: string, binding: readonly string[]): Walk {
    const [fromMs, toMs, key, lastMs, number, ...rest] = cursors.open(binding, cursor) ?? [];
    const parts = [fromMs, toMs, key, lastMs, number];
    if (rest.length > 0 || !parts.every((part) => typeof part === 'number')) throw invalidCursor();
    const [from = 0, to = 0, ...position] = parts;
    return {
      fromMs: from,
      toMs: to,
      after: { key: position[0] ?? 0, lastMs: position[1] ?? 0, number: position[2] ?? 0 },
    };
  }

  function begin({ fromMs, toMs, cursor }: GroupsRequest, binding: readonly string[], nowMs: number): Walk {
    if (cursor === '') {
      const end = toMs ?? nowMs + DAY_MS;
      return { fromMs: fromMs ?? Math.min(end, nowMs) - DAYS_DEFAULT * DAY_MS, toMs: end, after: null };
    }
    const walk = open(cursor, binding);
    if ((fromMs ?? walk.fromMs) !== walk.fromMs || (toMs ?? walk.toMs) !== walk.toMs) throw invalidCursor();
    return walk;
  }

  /** By id; without those that were erased meanwhile. */
  async function readExcerpts(ids: readonly string[], { project, nowMs }: Call): Promise<ReadonlyMap<string, Excerpt>> {
    const excerpts = new Map<string, Excerpt>();
    for (let start = 0; start < ids.length; start += ROWS_AT_ONCE) {
      const some = ids.slice(start, start + ROWS_AT_ONCE);
      for (const [id, { view }] of await rows.read(some, { project, nowMs })) excerpts.set(id, excerptOf(view));
    }
    const left = ids.filter((id) => !excerpts.has(id));
    for (let start = 0; start < left.length; start += READ_AT_ONCE) {
      const reads = left.slice(start, start + READ_AT_ONCE).map(async (traceId) => {
        const row = await readRow(traces, { project, traceId, spansLimit: 0, nowMs });
        if (row !== null) excerpts.set(traceId, excerptOf(row.view));
      });
      await Promise.all(reads);
    }
    return excerpts;
  }

  return {
    async list(request, call) {
      const { field, query, conditions, sort, isAscending, pageSize } = request;
      const sent = canonicalJson([foldText(query), conditions.userId, conditions.customerId, conditions.label]);
      const binding = [field, call.project.id, sort, String(isAscending), sent];
      const walk = begin(request, binding, call.nowMs);
      requireRange(walk.fromMs, walk.toMs);
      if (
        Object.values(conditions).some((value) => value !== null && hasMoreCharactersThan(value, VALUE_CHARACTERS_MAX))
      )
        return NO_GROUPS;
      const answer = await store.listGroups({
        ...{ ...visibleTo(call, traceDefaultDays), ...walk, field, conditions, sort, isAscending },
        text: query,
        limit: pageSize ?? PAGE_SIZE_DEFAULT,
      });
      if (answer.kind === 'too_long') throw tooLongFault();
      const { groups, next, isPartial } = answer;
      const ids = groups.flatMap(({ first, last }) => [first.traceId, last.traceId]);
      const excerpts = await readExcerpts([...new Set(ids)], call);
      const nextCursor =
        next === null ? null : cursors.seal(binding, [walk.fromMs, walk.toMs, next.key, next.lastMs, next.number]);
      return { groups: groups.map((group) => showGroup(group, excerpts)), nextCursor, isPartial };
    },
  };
}

/** Traces have no longer values, and databases may refuse them. */
const NO_GROUPS: GroupPage = { groups: [], nextCursor: null, isPartial: false };

function showGroup({ first, last, ...group }: ListedGroup, excerpts: ReadonlyMap<string, Excerpt>): ShownGroup {
  const show = (trace: GroupTrace) => ({ ...trace, ...(excerpts.get(trace.traceId) ?? ERASED) });
  return { ...group, first: show(first), last: show(last) };
}

const ERASED: Excerpt = { input: '', output: '', userId: null };

function excerptOf({ input, output, record }: TraceView): Excerpt {
  return { input: beginningOf(input), output: beginningOf(output), userId: readDimensions(record.metadataJson).userId };
}

/** A copy, because a part of a long text keeps all of it in memory. */
function beginningOf(text: string): string {
  return Buffer.from(cutToCharacters(text, EXCERPT_CHARACTERS_MAX)).toString();
}
