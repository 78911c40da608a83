/** Runs of evaluators over traces: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type EvaluationService,
  type EvaluatorRunSchema,
  EvaluatorRunStatus,
} from '../../../gen/spandrel/v1/evaluations_pb.js';
import { requirePermission } from '../../auth/authorize.ts';
import type { EvaluatorRun } from '../../domain/evaluations/evaluator-run.ts';
import type { EvaluatorRuns } from '../../domain/evaluations/evaluator-runs.ts';
import type { TraceSearches } from '../../domain/traces/search/trace-search.ts';
import { numbersOf } from '../enums.ts';
import { fieldsOf } from '../field-values.ts';
import type { Implementation } from '../method.ts';
import { projectOf } from '../scope.ts';
import { toConditions } from '../traces/trace-search.ts';

type Rpcs = Pick<
  Implementation<typeof EvaluationService>,
  'runEvaluatorOnTraces' | 'getEvaluatorRun' | 'listEvaluatorRuns' | 'cancelEvaluatorRun'
>;

export type EvaluatorRunRpcDeps = {
  readonly runs: EvaluatorRuns;
  readonly searches: Pick<TraceSearches, 'problems'>;
};

const LIST_SIZE_DEFAULT = 50;

export function createEvaluatorRunRpc({ runs, searches }: EvaluatorRunRpcDeps): Rpcs {
  return {
    runEvaluatorOnTraces: {
      precheck: async (_request, { caller }) => requirePermission('traces:view', caller),
      check: (request) => searches.problems(toConditions(request)),
      handle: async (request, context) => {
        const { idOrSlug } = request;
        const start = { idOrSlug, search: toConditions(request), nowMs: context.nowMs };
        return { run: toMessage(await runs.start(projectOf(context), start)) };
      },
    },
    getEvaluatorRun: async ({ runId }, context) => ({ run: toMessage(await runs.get(projectOf(context), runId)) }),
    listEvaluatorRuns: async ({ pageSize }, context) => ({
      runs: (await runs.list(projectOf(context), pageSize ?? LIST_SIZE_DEFAULT)).map(toMessage),
    }),
    cancelEvaluatorRun: async ({ runId }, context) => ({
      run: toMessage(await runs.cancel(projectOf(context), runId, context.nowMs)),
    }),
  };
}

const STATUSES = numbersOf(EvaluatorRunStatus);

function toMessage(run: EvaluatorRun): MessageInitShape<typeof EvaluatorRunSchema> {
  const { status, tracesFound, processed, skipped, failed } = run;
  return {
    ...fieldsOf(run),
    status: STATUSES[status],
    tracesFound: tracesFound === null ? undefined : BigInt(tracesFound),
    evaluated: BigInt(processed + skipped + failed),
    processed: BigInt(processed),
    skipped: BigInt(skipped),
    failed: BigInt(failed),
  };
}
