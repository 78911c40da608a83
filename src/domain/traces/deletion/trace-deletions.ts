/** Deletes all traces that a search finds, for example those of a person: previewing, starting, reading and cancelling. */

import type { Project } from '../../caller.ts';
import type { RandomBytes } from '../../clock.ts';
import { Fault, type Reason, validationFault } from '../../fault.ts';
import { isPossibleId, newId } from '../../ids.ts';
import { type Actor, auditRecord } from '../../management/audit.ts';
import { type ProjectCall, requireStillMay } from '../../management/fresh-caller.ts';
import type { ManagementStore } from '../../management/management.ts';
import { customReason } from '../../reasons.ts';
import type { SearchCall } from '../search/search-call.ts';
import { limitsOf, RUN_BEGINNING } from '../search/search-run.ts';
import { checkDates, type SearchConditions, type TraceSearches } from '../search/trace-search.ts';
import type { SentFilter } from '../search/trace-search-query.ts';
import { EVER, type SearchTotal } from '../search/trace-search-store.ts';
import type { TraceDeletion, TraceDeletionStore } from './trace-deletion.ts';

type TraceDeletionsDeps = {
  readonly management: ManagementStore;
  readonly store: TraceDeletionStore;
  readonly searches: Pick<TraceSearches, 'search'>;
  readonly random: RandomBytes;
  /** The present for what may be erased by its age. */
  readonly retentionNowMs: () => number;
  /** Wakes the worker after a deletion was started or cancelled. */
  readonly onChanged: () => void;
};

type Call = ProjectCall & { readonly actor: Actor };

/** Deletions of a project that may run at the same time, and that it may start within an hour. */
const RUNNING_MAX = 5;
const STARTED_MAX = 1_000;

export type TraceDeletions = ReturnType<typeof createTraceDeletions>;

export function createTraceDeletions(deps: TraceDeletionsDeps) {
  const { management, store, searches, random, onChanged } = deps;

  async function get(project: Project, id: string): Promise<TraceDeletion> {
    const deletion = isPossibleId(id) ? await store.find(project.id, id) : null;
    if (deletion === null) throw new Fault('trace_deletion_not_found', 'There is no such deletion of traces.');
    return deletion;
  }

  return {
    /** The traces that a deletion would begin with. Throws validation_error. */
    async preview(search: SearchConditions, call: SearchCall): Promise<SearchTotal> {
      const page = await searches.search({ ...toPage(boundedSearch(search)), pageSize: 1 }, call);
      return page.total;
    },
    /** Throws validation_error, trace_deletion_limit_reached. */
    async start(call: Call, search: SearchConditions): Promise<TraceDeletion> {
      const { project, actor, nowMs } = call;
      const deletion: TraceDeletion = {
        projectId: project.id,
        id: newId('tracedeletion', random),
        searchJson: JSON.stringify(boundedSearch(search)),
        ...RUN_BEGINNING,
        deleted: 0,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      };
      const at = { nowMs, retentionNowMs: deps.retentionNowMs() };
      const limits = limitsOf({ runningMax: RUNNING_MAX, startedMax: STARTED_MAX }, at);
      const audited = { action: 'traceDeletion.create', targetId: deletion.id, status: 201, fields: fieldsOf(search) };
      await requireStillMay(management, call, 'project:manage');
      const outcome = await store.insert(deletion, limits, auditRecord(actor, audited, { nowMs, random }));
      if (outcome !== 'stored') throw limitFault(outcome);
      onChanged();
      return deletion;
    },
    /** Throws trace_deletion_not_found. */
    get,
    /** The newest first. */
    list: (project: Project, limit: number) => store.list(project.id, limit),
    /** Leaves an ended deletion unchanged. Throws trace_deletion_not_found. */
    async cancel(project: Project, id: string, nowMs: number): Promise<TraceDeletion> {
      await get(project, id);
      await store.cancel({ projectId: project.id, id }, nowMs);
      onChanged();
      return await get(project, id);
    },
  };
}

/** A stored search as a page of it is asked for; the size is the caller's. */
export function toPage(search: SearchConditions) {
  return { ...search, pageSize: null, sortBy: null, isAscending: false, includeSpans: false, cursor: '' } as const;
}

/**
 * Without dates a search is of all times: a person is erased by one call. Throws validation_error where nothing at all is
 * asked for: to delete every trace, a range of dates must say so. A filter without values, which a search ignores, is more
 * likely a list that a program left empty.
 */
function boundedSearch(search: SearchConditions): SearchConditions {
  const empty = search.filters.filter(({ values }) => values.length === 0);
  if (empty.length > 0) throw validationFault('json', empty.map(emptyFilter));
  if (fieldsOf(search).length === 0) throw validationFault('json', [NOTHING_ASKED]);
  const startMs = search.startMs ?? EVER.fromMs;
  const endMs = search.endMs ?? EVER.toMs;
  checkDates({ fromMs: startMs, toMs: endMs });
  return { ...search, startMs, endMs };
}

const NOTHING_ASKED: Reason = {
  field: 'filters',
  type: 'custom',
  message: 'filters, query, traceIds, startDate or endDate must say which traces to delete',
};

function emptyFilter({ name, key }: SentFilter): Reason {
  const field = ['filters', name, ...(key === null ? [] : [key])].join('.');
  return customReason(field, `${field} must have at least one value`);
}

/** The conditions that a search has, by their names over REST. */
function fieldsOf({ startMs, endMs, query, filters, traceIds }: SearchConditions): readonly string[] {
  return [
    ...(startMs === null ? [] : ['startDate']),
    ...(endMs === null ? [] : ['endDate']),
    ...(query.trim() === '' ? [] : ['query']),
    ...(filters.length === 0 ? [] : ['filters']),
    ...(traceIds.length === 0 ? [] : ['traceIds']),
  ];
}

function limitFault(outcome: 'limit_reached' | 'too_many_started'): Fault {
  const message =
    outcome === 'limit_reached'
      ? `${RUNNING_MAX} deletions of traces are under way in the project; wait for one to end, or cancel one.`
      : `The project has started ${STARTED_MAX} deletions of traces within an hour; try again later.`;
  return new Fault('trace_deletion_limit_reached', message);
}
