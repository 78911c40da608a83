/** Walks through pages of threads and users, and compares them with a plain recomputation. */

import { expect } from 'vitest';
import type { Store } from '../../../src/domain/store.ts';
import type { GroupPosition, GroupsQuery, ListedGroup } from '../../../src/domain/threads/group-store.ts';
import type { Evaluation, Span } from '../../../src/domain/traces/trace.ts';
import { dimensionNumber } from '../../../src/storage/search/index-plan.ts';
import type { Chance } from '../../support/access-fuzzer/chance.ts';

export type StoredTrace = {
  readonly receivedAtMs: number;
  readonly metadata: { readonly [key: string]: unknown };
  readonly spans: ReadonlyMap<string, Span>;
  readonly evaluations: readonly Evaluation[];
};

type Fixture = {
  readonly model: ReadonlyMap<string, StoredTrace>;
  readonly chance: Chance;
  readonly seed: number;
  /** Sums of huge costs are too near to each other to be ordered. */
  readonly hasHugeCosts: boolean;
};

type Range = Pick<GroupsQuery, 'projectNumber' | 'expiredBeforeMs' | 'fromMs' | 'toMs'>;

export async function compareGroupLists(store: Store, range: Range, fixture: Fixture): Promise<void> {
  const { chance, seed, hasHugeCosts } = fixture;
  const drawValue = () => (chance.happens(0.2) ? chance.pick(['u1', 'U1', '😀 "quoted"', 'nobody']) : null);
  const query: GroupsQuery = {
    ...range,
    field: chance.pick(['thread_id', 'user_id']),
    conditions: { userId: drawValue(), customerId: drawValue(), label: drawValue() },
    text: chance.happens(0.2) ? chance.pick(['u', 'U1', '😀', '__proto__', 'nobody']) : '',
    sort: chance.pick([
      'last_activity',
      'traces',
      ...(hasHugeCosts ? [] : ['total_cost' as const]),
      'tokens',
      'errors',
    ]),
    isAscending: chance.happens(0.4),
    after: null,
    limit: chance.pick([1, 2, 50]),
  };
  const listed: ListedGroup[] = [];
  let next: GroupPosition | null = null;
  do {
    const page = await store.analytics.listGroups({ ...query, after: next });
    if (page.kind !== 'groups') throw new Error(page.kind);
    expect(page.groups.length).toBeLessThanOrEqual(query.limit);
    expect(page.isPartial).toBe(false);
    listed.push(...page.groups);
    ({ next } = page);
  } while (next !== null);
  const of = `seed ${seed}, ${JSON.stringify(query)}`;
  expect(listed.map(plain), of).toEqual(recompute(fixture.model, query));
}

function plain({ name, totals, first, last, scores }: ListedGroup) {
  const { traces, spans, errors, promptTokens, completionTokens, totalCostUsd } = totals;
  return {
    ...{ name, traces, spans, errors, promptTokens, completionTokens, totalCostUsd },
    ...{ firstMs: first.startMs, lastMs: last.startMs, scores },
  };
}

type Counted = StoredTrace & { readonly startMs: number; readonly own: readonly Span[] };

function recompute(model: Fixture['model'], query: GroupsQuery) {
  const { field, conditions, expiredBeforeMs, fromMs, toMs, isAscending, projectNumber } = query;
  const traces = [...model.values()]
    .map((trace): Counted => {
      const own = [...trace.spans.values()];
      return { ...trace, own, startMs: own.length === 0 ? trace.receivedAtMs : Math.min(...own.map(startOf)) };
    })
    .filter(
      ({ receivedAtMs, startMs }) => receivedAtMs >= (expiredBeforeMs ?? 0) && startMs >= fromMs && startMs <= toMs,
    )
    .filter(({ metadata: { user_id, customer_id, labels } }) => {
      const { userId, customerId, label } = conditions;
      const isOfUser = (userId === null || user_id === userId) && (customerId === null || customer_id === customerId);
      return isOfUser && (label === null || (Array.isArray(labels) && labels.includes(label)));
    });
  const named = Map.groupBy(traces, ({ metadata }) => metadata[field] as string | undefined);
  const groups = [...named].flatMap(([name, of]) => {
    if (name === undefined || !name.toLowerCase().startsWith(query.text.toLowerCase())) return [];
    return [{ ...summed(name, of), number: dimensionNumber(projectNumber, name) }];
  });
  const ranks = groups.map((group) => ({ group, rank: [keyOf(group, query), group.lastMs, group.number] as const }));
  const compare = ([key, last, number]: Rank, [other, otherLast, otherNumber]: Rank) =>
    (key - other || last - otherLast || number - otherNumber) * (isAscending ? 1 : -1);
  return ranks.sort((one, other) => compare(one.rank, other.rank)).map(({ group: { number: _, ...group } }) => group);
}

type Rank = readonly [number, number, number];
type Group = ReturnType<typeof summed>;

function summed(name: string, traces: readonly Counted[]) {
  const spans = traces.flatMap(({ own }) => own);
  const results = traces.flatMap(({ evaluations }) => evaluations).filter(({ status }) => status === 'processed');
  const scored = results.map(({ score }) => score).filter((score) => score !== null);
  const mean = scored.length === 0 ? null : scored.reduce((sum, score) => sum + score, 0) / scored.length;
  return {
    name,
    traces: traces.length,
    spans: spans.length,
    errors: traces.filter(({ own }) => own.some(({ errorJson }) => errorJson !== null)).length,
    promptTokens: sum(spans.map(({ promptTokens }) => promptTokens)),
    completionTokens: sum(spans.map(({ completionTokens }) => completionTokens)),
    totalCostUsd: usd(spans.map(({ costNanoUsd }) => costNanoUsd)),
    firstMs: Math.min(...traces.map(({ startMs }) => startMs)),
    lastMs: Math.max(...traces.map(({ startMs }) => startMs)),
    scores: {
      mean: mean === null ? null : expect.closeTo(mean, 9),
      scored: scored.length,
      passed: results.filter(({ passed }) => passed === true).length,
      failed: results.filter(({ passed }) => passed === false).length,
    },
  };
}

function keyOf(group: Group, { sort }: GroupsQuery): number {
  const keys = {
    last_activity: group.lastMs,
    traces: group.traces,
    total_cost: typeof group.totalCostUsd === 'number' ? group.totalCostUsd : 0,
    tokens: (group.promptTokens ?? 0) + (group.completionTokens ?? 0),
    errors: group.errors,
  };
  return keys[sort];
}

function startOf({ startedAtMs }: Span): number {
  return startedAtMs;
}

function sum(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}

function usd(values: readonly (number | null)[]) {
  const nano = sum(values);
  if (nano === null) return null;
  return Number.isSafeInteger(nano) ? nano / 1e9 : expect.closeTo(nano / 1e9, 4);
}
