/** Following traces: message <-> domain values. */

import { create, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import {
  FoundTraceSchema,
  type TailTracesRequest,
  type TailTracesResponseSchema,
  TraceFormat,
  type TraceService,
} from '../../../gen/spandrel/v1/traces_pb.js';
import type { Project } from '../../domain/caller.ts';
import type { Reason } from '../../domain/fault.ts';
import { lengthReason } from '../../domain/reasons.ts';
import type { TraceSearches } from '../../domain/traces/search/trace-search.ts';
import { filterCharacters } from '../../domain/traces/search/trace-search-query.ts';
import type { TailMessage, TailRequest, TraceTails } from '../../domain/traces/tail/trace-tail.ts';
import type { TraceView } from '../../domain/traces/traces.ts';
import { credentialOf } from '../actor.ts';
import type { Implementation } from '../method.ts';
import type { PlatformUrl } from './trace-message.ts';
import { callOf, readFilter, showView } from './trace-search.ts';

type TraceTailRpcDeps = {
  readonly tails: TraceTails;
  readonly searches: Pick<TraceSearches, 'problems'>;
  readonly platformUrl: PlatformUrl;
};

type Row = MessageShape<typeof FoundTraceSchema>;
type Answer = MessageInitShape<typeof TailTracesResponseSchema>;

export function createTraceTailRpc({
  tails,
  searches,
  platformUrl,
}: TraceTailRpcDeps): Pick<Implementation<typeof TraceService>, 'tailTraces'> {
  const rows = createRows(platformUrl);

  async function show(message: TailMessage, format: TraceFormat, project: Project): Promise<Answer> {
    switch (message.kind) {
      case 'trace':
        return { id: message.id, change: { case: 'trace', value: await rows(message.view, format, project) } };
      case 'lagged':
        return { change: { case: 'lagged', value: { dropped: BigInt(message.dropped) } } };
      case 'idle':
        return {};
    }
  }

  return {
    tailTraces: {
      isIdle: true,
      check: (request) => [...sizeProblems(request), ...searches.problems(toTailRequest(request))],
      async open(request, context) {
        const credential = context.actor === null ? '' : credentialOf(context.actor);
        const call = { ...callOf(context), credential, signal: context.signal };
        const messages = await tails.open(toTailRequest(request), call);
        return (async function* () {
          for await (const each of messages) yield await show(each, request.format, call.project);
        })();
      },
    },
  };
}

/** Caches the message of a view by format, because many tails report the same view. */
function createRows(platformUrl: PlatformUrl) {
  const made = new Map([true, false].map((isSummary) => [isSummary, new WeakMap<TraceView, Promise<Row>>()]));
  return (view: TraceView, format: TraceFormat, project: Project): Promise<Row> => {
    const isSummary = format === TraceFormat.DIGEST;
    const cached = made.get(isSummary)?.get(view);
    if (cached !== undefined) return cached;
    const row = makeRow();
    made.get(isSummary)?.set(view, row);
    return row;

    async function makeRow(): Promise<Row> {
      return create(FoundTraceSchema, { view: await showView(view, { isSummary, project, platformUrl }) });
    }
  };
}

/** A stream keeps its filters as long as it is open. */
const FILTER_CHARACTERS_MAX = 16_384;

function sizeProblems({ filters }: TailTracesRequest): readonly Reason[] {
  if (filterCharacters(filters.map(readFilter)) <= FILTER_CHARACTERS_MAX) return [];
  return [lengthReason('filters', `at most ${FILTER_CHARACTERS_MAX} characters`)];
}

function toTailRequest({ filters, lastEventId, ...request }: TailTracesRequest): TailRequest {
  const { query, negateFilters, traceIds, includeSpans } = request;
  return { query, filters: filters.map(readFilter), negateFilters, traceIds, includeSpans, lastEventId };
}
