/** Finding traces: message <-> domain values. */

import type { Message, MessageInitShape } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type ExportTracesRequest,
  type SearchTracesRequest,
  SortDirection,
  TraceDateField,
  type TraceFilter,
  TraceFormat,
  type TraceService,
  TraceSort,
  type TraceSummarySchema,
} from '../../../gen/spandrel/v1/traces_pb.js';
import type { Project } from '../../domain/caller.ts';
import type { Reason } from '../../domain/fault.ts';
import { cutToCharacters } from '../../domain/text-limits.ts';
import type {
  SearchConditions,
  SearchRequest,
  TracePage,
  TraceSearches,
} from '../../domain/traces/search/trace-search.ts';
import type { SentFilter } from '../../domain/traces/search/trace-search-query.ts';
import type { TraceView } from '../../domain/traces/traces.ts';
import { wordOf } from '../enums.ts';
import type { Context, Implementation } from '../method.ts';
import { projectOf } from '../scope.ts';
import { digestMessage, errorMessage, type PlatformUrl, traceWithSpans } from './trace-message.ts';

type Rpcs = Pick<Implementation<typeof TraceService>, 'searchTraces' | 'getThread' | 'validateCredential'>;
const SUMMARY_CHARACTERS_MAX = 200;

export function createTraceSearchRpc(searches: TraceSearches, platformUrl: PlatformUrl): Rpcs {
  return {
    searchTraces: {
      check: (request) => [...offsetProblems(request), ...searches.problems(toSearch(request))],
      handle: async (request, context) => {
        const call = callOf(context);
        const page = await searches.search(toSearch(request), call);
        const isSummary = asksForSummary(request);
        const traces = [];
        for (const view of page.views) {
          traces.push({ view: await showView(view, { isSummary, project: call.project, platformUrl }) });
        }
        const totalHitsRelation = page.total.isExact ? 'eq' : 'gte';
        const partial = page.isPartial ? true : undefined;
        return { traces, pagination: { ...paginationOf(page), totalHitsRelation, partial } };
      },
    },
    getThread: {
      handle: async ({ threadId, pageSize = null, pageToken }, context) => {
        const call = callOf(context);
        const page = await searches.thread({ threadId, pageSize, cursor: pageToken }, call);
        const traces = [];
        for (const view of page.views) traces.push(await traceWithSpans(view, call.project, platformUrl));
        return { traces, pagination: paginationOf(page) };
      },
    },
    validateCredential: {
      handle: async (_request, context) => {
        const { id, slug } = projectOf(context);
        return { projectId: id, projectSlug: slug };
      },
    },
  };
}

export function callOf(context: Pick<Context, 'project' | 'nowMs' | 'countResponseBytes' | 'answerMaxBytes'>) {
  const { nowMs, countResponseBytes } = context;
  return { project: projectOf(context), nowMs, countResponseBytes, ...maxBytesOf(context) };
}

export function maxBytesOf({ answerMaxBytes }: Pick<Context, 'answerMaxBytes'>) {
  return answerMaxBytes === null ? {} : { maxBytes: answerMaxBytes };
}

export function asksForSummary({ format, llmMode }: Pick<SearchTracesRequest, 'format' | 'llmMode'>): boolean {
  return format === TraceFormat.DIGEST || llmMode;
}

export type Shown = { readonly isSummary: boolean; readonly project: Project; readonly platformUrl: PlatformUrl };

/** A view in the requested format. */
export async function showView(view: TraceView, { isSummary, project, platformUrl }: Shown) {
  if (isSummary) {
    return { case: 'summary' as const, value: summaryMessage(view, platformUrl(project, view.record.traceId)) };
  }
  const { asciiTree: _, ...trace } = await traceWithSpans(view, project, platformUrl);
  return { case: 'trace' as const, value: trace };
}

/** A view as a digest. */
function summaryMessage(view: TraceView, platformUrl: string): MessageInitShape<typeof TraceSummarySchema> {
  const { input, output, errorJson } = view;
  return {
    ...digestMessage(view, `Input: ${beginningOf(input)}\nOutput: ${beginningOf(output)}`, platformUrl),
    input: { value: input },
    output: { value: output },
    error: errorMessage(errorJson),
  };
}

function beginningOf(text: string): string {
  return cutToCharacters(text, SUMMARY_CHARACTERS_MAX);
}

function paginationOf({ total, nextCursor }: TracePage) {
  return { totalHits: BigInt(total.count), nextPageToken: nextCursor ?? undefined };
}

/** The search of a request; requests without pages lack the fields of pages. */
export function toSearch(
  request: Omit<ExportTracesRequest, keyof Message> & Partial<Pick<SearchTracesRequest, 'pageSize' | 'pageToken'>>,
): SearchRequest {
  return {
    ...toConditions(request),
    pageSize: request.pageSize ?? null,
    sortBy: wordOf(TraceSort, request.sortBy),
    isAscending: request.sortDirection === SortDirection.ASC,
    includeSpans: request.includeSpans,
    cursor: request.pageToken ?? '',
  };
}

type SentConditions = Pick<
  ExportTracesRequest,
  'startDate' | 'endDate' | 'filters' | 'query' | 'negateFilters' | 'traceIds' | 'dateField'
>;

/** What a request searches for. */
export function toConditions({ startDate, endDate, filters, ...request }: SentConditions): SearchConditions {
  return {
    startMs: startDate === undefined ? null : timestampMs(startDate),
    endMs: endDate === undefined ? null : timestampMs(endDate),
    query: request.query,
    filters: filters.map(readFilter),
    negateFilters: request.negateFilters,
    traceIds: request.traceIds,
    isByUpdate: request.dateField === TraceDateField.UPDATED,
  };
}

export function readFilter({ name, key, values }: TraceFilter): SentFilter {
  return { name, key: key ?? null, values };
}

/** Older clients send a number of traces to skip, which may be 0. */
export function offsetProblems({ pageOffset }: Pick<SearchTracesRequest, 'pageOffset'>): readonly Reason[] {
  if (pageOffset === 0) return [];
  const message = 'pageOffset must be 0: pages go on by scrollId';
  return [{ field: 'pageOffset', type: 'custom', message }];
}
