/** ExperimentService: message <-> domain values. */

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type ExperimentRunSchema,
  type ExperimentRunSummarySchema,
  type ExperimentSchema,
  type ExperimentService,
  LogExperimentResultsRequestSchema,
} from '../../../gen/spandrel/v1/experiments_pb.js';
import { requirePermission } from '../../auth/authorize.ts';
import type { ComparedRun, RunComparisons } from '../../domain/experiments/comparison.ts';
import type { Experiment, ListedRun, RunTarget } from '../../domain/experiments/experiment.ts';
import type { Experiments } from '../../domain/experiments/experiments.ts';
import type { RunSummary } from '../../domain/experiments/run-summary.ts';
import type { ExperimentRuns } from '../../domain/experiments/runs.ts';
import { maskTokens } from '../../domain/token-mask.ts';
import { cursorRequest, pageMessage } from '../cursor-page.ts';
import { fieldsOf, unsetNulls } from '../field-values.ts';
import { nulProblems } from '../management-problems.ts';
import type { Implementation } from '../method.ts';
import { projectOf } from '../scope.ts';
import { listMessage, readLog, resultMessage } from './experiment-results.ts';

type ExperimentRpcDeps = {
  readonly experiments: Experiments;
  readonly runs: ExperimentRuns;
  readonly comparisons: RunComparisons;
};

/** As many as a run can have. */
const RESULTS_MAX = 10_000;

export function createExperimentRpc({
  experiments,
  runs,
  comparisons,
}: ExperimentRpcDeps): Implementation<typeof ExperimentService> {
  return {
    initExperiment: {
      check: nulProblems,
      async handle({ experimentSlug: slug = null, experimentName: name = null }, context) {
        const project = projectOf(context);
        const experiment = await experiments.init(project, { slug, name }, context.nowMs);
        const path = `/${project.slug}/experiments/${encodeURIComponent(experiment.slug)}`;
        return { experiment: toMessage(experiment), path };
      },
    },
    listExperiments: async (_request, context) => ({
      data: (await experiments.list(projectOf(context))).map(toMessage),
    }),
    getExperiment: async ({ slugOrId }, context) => ({
      experiment: toMessage(await experiments.get(projectOf(context), slugOrId)),
    }),
    async deleteExperiment({ slugOrId }, context) {
      await experiments.remove(projectOf(context), slugOrId, context.nowMs);
      return {};
    },
    createExperimentRun: {
      check: nulProblems,
      async handle(request, context) {
        const { runId: id = null, name = null, dataset = null, datasetVersion = null, total = null } = request;
        if (dataset !== null) requirePermission('datasets:view', context.caller);
        const draft = { id, name, dataset, datasetVersion, total, nowMs: context.nowMs };
        return { run: runMessage(await runs.create(projectOf(context), request.slugOrId, draft)) };
      },
    },
    logExperimentResults: {
      // Items are validated one by one.
      check: ({ experimentSlug, runId, name }, input) =>
        nulProblems(create(LogExperimentResultsRequestSchema, { experimentSlug, runId, name }), input),
      async handle(request, context) {
        const { log, refused } = readLog(request);
        const name = { experiment: request.experimentSlug, id: request.runId };
        const reported = await runs.log(projectOf(context), name, { ...log, nowMs: context.nowMs });
        return { run: runMessage(reported.run), refused: [...refused, ...reported.refused] };
      },
    },
    finishExperimentRun: async (request, context) => ({
      run: runMessage(await runs.finish(projectOf(context), nameOf(request), context.nowMs)),
    }),
    listExperimentRuns: async (request, context) =>
      pageMessage(await runs.list(projectOf(context), request.slugOrId, cursorRequest(request)), runMessage),
    async getExperimentRun(request, context) {
      const page = { ...cursorRequest(request), countResponseBytes: context.countResponseBytes };
      const { run, summary, results } = await runs.get(projectOf(context), nameOf(request), page);
      return { run: runMessage(run), summary: summaryMessage(summary), ...pageMessage(results, resultMessage) };
    },
    async listExperimentRunResults(request, context) {
      const { cursor, limit } = cursorRequest(request);
      const page = { cursor, limit: limit ?? RESULTS_MAX, countResponseBytes: context.countResponseBytes };
      const { run, results } = await runs.get(projectOf(context), nameOf(request), page);
      return {
        experimentId: run.experimentId,
        runId: maskTokens(run.id),
        ...listMessage(results.items),
        nextPageToken: results.nextCursor ?? undefined,
      };
    },
    async compareExperimentRuns(request, context) {
      const { slugOrId, otherExperiment, baseTarget, otherTarget } = request;
      const sides = {
        base: { experiment: slugOrId, id: request.base, target: baseTarget ?? null },
        other: { experiment: otherExperiment ?? slugOrId, id: request.other, target: otherTarget ?? null },
      };
      const page = { ...cursorRequest(request), countResponseBytes: context.countResponseBytes };
      const { base, other, entries, nextCursor, ...counts } = await comparisons.compare(
        projectOf(context),
        sides,
        page,
      );
      return {
        ...counts,
        base: comparedMessage(base),
        other: comparedMessage(other),
        data: entries.map((entry) => ({
          base: entry.base === null ? undefined : resultMessage(entry.base),
          other: entry.other === null ? undefined : resultMessage(entry.other),
        })),
        nextPageToken: nextCursor ?? undefined,
      };
    },
    async deleteExperimentRun(request, context) {
      await runs.remove(projectOf(context), nameOf(request), context.nowMs);
      return {};
    },
  };
}

function nameOf({ slugOrId, runId }: { readonly slugOrId: string; readonly runId: string }) {
  return { experiment: slugOrId, id: runId };
}

function toMessage(experiment: Experiment): MessageInitShape<typeof ExperimentSchema> {
  return fieldsOf(experiment);
}

function comparedMessage({ run, summary }: ComparedRun) {
  return { run: runMessage(run), summary: summaryMessage(summary) };
}

function runMessage(run: ListedRun & { readonly targetsJson?: string }): MessageInitShape<typeof ExperimentRunSchema> {
  return {
    ...fieldsOf(run),
    id: maskTokens(run.id),
    targets: run.targetsJson === undefined ? [] : (JSON.parse(run.targetsJson) as RunTarget[]),
    done: run.progress ?? run.resultCount,
  };
}

function summaryMessage(summary: RunSummary): MessageInitShape<typeof ExperimentRunSummarySchema> {
  const { results, errors, costUsd, evaluationCostUsd, meanDurationMs, evaluators } = summary;
  return {
    results,
    errors,
    cost: costUsd ?? undefined,
    evaluationCost: evaluationCostUsd ?? undefined,
    meanDuration: meanDurationMs ?? undefined,
    evaluators: evaluators.map(unsetNulls),
  };
}
