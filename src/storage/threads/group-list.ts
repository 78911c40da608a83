/**
 * Lists threads and users: by the index of traces, which knows them by numbers, and where it cannot answer by scanning
 * traces. Their names come from the metadata of their traces.
 */

import { matchTrace, needlesOf, readDimensions } from '../../domain/analytics/dimensions.ts';
import { NO_DURATIONS, type Sums, totalsOfSums } from '../../domain/analytics/sums.ts';
import { ANY_TRACE, type TraceConditions } from '../../domain/analytics/trace-analytics-store.ts';
import { insertRanked } from '../../domain/group-parts.ts';
import {
  compareGroups,
  type GroupField,
  type GroupPosition,
  type GroupsQuery,
  type ListedGroup,
  type TraceGroups,
} from '../../domain/threads/group-store.ts';
import { createNames, type IndexReading, readQuery } from '../analytics/indexed-analytics.ts';
import type { IndexedAnswer, IndexedSums, ListedDimension, RankQuery } from '../analytics/indexed-sums.ts';
import { beginReading } from '../analytics/trace-analytics.ts';
import { readTraces, scanTraces, wholeRange } from '../analytics/trace-scan.ts';
import { dimensionNumber } from '../search/index-plan.ts';
import { findBySequences } from '../search/named-traces.ts';
import { findNames, type NameReads } from './group-names.ts';
import {
  addScores,
  addToGroup,
  type GroupSum,
  latestOf,
  NO_SCORES,
  newGroupSum,
  positionOf,
  readScores,
} from './group-sums.ts';

type GroupListDeps = NameReads & { readonly index: IndexedSums };

const DIMENSIONS: Readonly<Record<GroupField, ListedDimension>> = { thread_id: 'thread', user_id: 'user' };
/** More groups of a scan would not fit in the memory of the thread. */
const SCANNED_GROUPS_MAX = 200_000;
const NEEDS = { metadata: true, spans: false };

/** A group without its name and its texts; `first`, `last` and `latest` are sequences. */
type Summed = {
  readonly position: GroupPosition;
  readonly sums: Sums;
  readonly first: number;
  readonly last: number;
  readonly latest: readonly number[];
};
type Page = { readonly groups: readonly Summed[]; readonly next: GroupPosition | null };

export function createGroupList(deps: GroupListDeps): TraceGroups {
  const { summing, index } = deps;
  return {
    async listGroups(query) {
      const reading = beginReading(summing, index);
      const named = query.text === '' ? null : await findNames(deps, query);
      const names = named?.names ?? null;
      const isPartial = named?.isPartial ?? false;
      for (const listPage of [listByIndex, listByScan]) {
        const page = await listPage(reading, query, names);
        if (page === 'too_long') return { kind: 'too_long' };
        const groups = page === null ? null : await showGroups(deps, query, page.groups);
        if (page !== null && groups !== null) return { kind: 'groups', groups, next: page.next, isPartial };
      }
      // A trace of the page was removed or changed after each reading.
      return { kind: 'too_long' };
    },
  };
}

/** `names` null: all. Returns null where the index cannot answer. */
async function listByIndex(
  reading: IndexReading,
  query: GroupsQuery,
  names: ReadonlySet<string> | null,
): Promise<IndexedAnswer<Page>> {
  const { projectNumber, field, sort, isAscending, after, limit } = query;
  const known = createNames(reading, projectNumber, field);
  const traces = await readQuery(reading, query, { conditions: conditionsOf(query), names: known });
  if (traces === null) return null;
  const numbers = names === null ? null : [...names].map((name) => dimensionNumber(projectNumber, name));
  const dimension = DIMENSIONS[field];
  const ranked = await rankGroups(reading, {
    ...{ ...traces, dimension, numbers, sort, isAscending, after },
    limit: limit + 1,
  });
  if (ranked === null || ranked === 'too_long') return ranked;
  const positions = ranked.slice(0, limit);
  if (positions.length === 0) return { groups: [], next: null };
  const found = await reading.index.sumGroups({ ...traces, dimension, numbers: positions.map(({ number }) => number) });
  if (found === null || found === 'too_long') return found;
  const sums = new Map(found.map(({ number, ...group }) => [number, group]));
  const groups = positions.flatMap((position) => {
    const group = sums.get(position.number);
    return group === undefined ? [] : [{ position, ...group }];
  });
  // A trace was indexed, changed or removed between the two reads.
  if (groups.length < positions.length) return null;
  return { groups, next: ranked.length > limit ? (positions.at(-1) ?? null) : null };
}

function conditionsOf({ conditions }: GroupsQuery): TraceConditions {
  return { ...ANY_TRACE, ...conditions };
}

/** Parts of the range that are read first, from its end: those with the last activity are there. */
const WINDOWS = [1 / 64, 1 / 8];

async function rankGroups({ index }: IndexReading, query: RankQuery): Promise<IndexedAnswer<readonly GroupPosition[]>> {
  const { sort, isAscending, numbers, fromMs, toMs, limit } = query;
  const isByEnd = sort === 'last_activity' && !isAscending && numbers === null;
  for (const part of isByEnd ? WINDOWS : []) {
    const beginsMs = Math.ceil(toMs - (toMs - fromMs) * part);
    const changed = query.changed.filter(({ startMs }) => startMs >= beginsMs);
    const ranked = await index.rankGroups({ ...query, fromMs: beginsMs, changed });
    if (ranked === null || ranked === 'too_long' || ranked.length >= limit) return ranked;
  }
  return await index.rankGroups(query);
}

/** The same by reading all traces of the range. */
async function listByScan(
  { runner, isOver }: IndexReading,
  query: GroupsQuery,
  names: ReadonlySet<string> | null,
): Promise<IndexedAnswer<Page>> {
  const { projectNumber, field, sort, isAscending, after, limit } = query;
  const conditions = conditionsOf(query);
  const groups = new Map<string, GroupSum>();
  const needs = { ...NEEDS, needles: needlesOf(conditions) };
  for await (const part of scanTraces(runner, wholeRange(query), needs)) {
    for (const { trace, metadataJson } of part) {
      const dimensions = readDimensions(metadataJson ?? '{}');
      const name = field === 'thread_id' ? dimensions.threadId : dimensions.userId;
      if (name === null || names?.has(name) === false || !matchTrace(dimensions, conditions)) continue;
      const group = groups.get(name);
      if (group === undefined) groups.set(name, newGroupSum(trace));
      else addToGroup(group, trace);
    }
    if (isOver() || groups.size > SCANNED_GROUPS_MAX) return 'too_long';
  }
  const best: Summed[] = [];
  for (const [name, group] of groups) {
    const position = positionOf(dimensionNumber(projectNumber, name), group, sort);
    if (after !== null && compareGroups(position, after, isAscending) <= 0) continue;
    const { sums, first, last } = group;
    const summed = { position, sums, first: first.sequence, last: last.sequence, latest: latestOf(group) };
    insertRanked(best, summed, {
      countMax: limit + 1,
      compare: (one, other) => compareGroups(one.position, other.position, isAscending),
    });
  }
  const page = best.slice(0, limit);
  return { groups: page, next: best.length > limit ? (page.at(-1)?.position ?? null) : null };
}

/** Null: a trace of the groups was changed or removed meanwhile, or two names have the same number. */
async function showGroups(
  { summing, searching }: GroupListDeps,
  { projectNumber, field }: GroupsQuery,
  groups: readonly Summed[],
): Promise<readonly ListedGroup[] | null> {
  const sequences = [...new Set(groups.flatMap(({ first, last }) => [first, last]))];
  const names = new Map<number, string | null>();
  for await (const part of readTraces(summing, projectNumber, { sequences, needs: NEEDS })) {
    for (const { trace, metadataJson } of part) {
      const { threadId, userId } = readDimensions(metadataJson ?? '{}');
      names.set(trace.sequence, field === 'thread_id' ? threadId : userId);
    }
  }
  const found = await findBySequences(searching, projectNumber, sequences);
  const traces = new Map(found.map(({ sequence, traceId, startMs }) => [sequence, { traceId, startMs }]));
  const scores = await readScores(
    summing,
    projectNumber,
    groups.flatMap(({ latest }) => latest),
  );
  const listed: ListedGroup[] = [];
  for (const group of groups) {
    const [first, last, name] = [traces.get(group.first), traces.get(group.last), names.get(group.last)];
    if (first === undefined || last === undefined || name === null || name === undefined) return null;
    const isNamed = names.get(group.first) === name && dimensionNumber(projectNumber, name) === group.position.number;
    if (!isNamed) return null;
    const ofTraces = group.latest.flatMap((sequence) => scores.get(sequence) ?? []);
    listed.push({
      ...{ name, first, last, totals: totalsOfSums(group.sums, NO_DURATIONS) },
      scores: ofTraces.reduce(addScores, NO_SCORES),
    });
  }
  return listed;
}
