/** DatasetService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { DatasetEntrySchema, DatasetSchema, DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import { requirePermission } from '../../auth/authorize.ts';
import type { Dataset } from '../../domain/datasets/dataset.ts';
import type { Datasets, NumberedEntry } from '../../domain/datasets/datasets.ts';
import type { EntriesDraft } from '../../domain/datasets/entries.ts';
import { nameProblems } from '../../domain/resources.ts';
import type { TraceSearches } from '../../domain/traces/search/trace-search.ts';
import { fieldsOf } from '../field-values.ts';
import type { Implementation } from '../method.ts';
import { projectOf } from '../scope.ts';
import { callOf, toConditions } from '../traces/trace-search.ts';

type DatasetRpcDeps = {
  readonly datasets: Datasets;
  readonly searches: Pick<TraceSearches, 'problems'>;
};

const TRACES_MAX = 1000;

export function createDatasetRpc({ datasets, searches }: DatasetRpcDeps): Implementation<typeof DatasetService> {
  return {
    async getDataset({ slugOrId, version }, context) {
      const { dataset, entries } = await datasets.get(projectOf(context), slugOrId, version ?? null);
      context.countResponseBytes(dataset.totalBytes);
      return { dataset: toMessage(dataset), data: entries.map((entry) => toEntry(dataset, entry)) };
    },
    listDatasets: async (_request, context) => ({ data: (await datasets.list(projectOf(context))).map(toMessage) }),
    createDataset: {
      check: ({ name }) => nameProblems(name ?? null),
      async handle(request, context) {
        const draft = { name: request.name ?? null, ...entriesOf(request) };
        return { dataset: toMessage(await datasets.create(projectOf(context), draft, context.nowMs)) };
      },
    },
    async addDatasetEntries(request, context) {
      const entries = { ...entriesOf(request), nowMs: context.nowMs };
      return { dataset: toMessage(await datasets.append(projectOf(context), request.slugOrId, entries)) };
    },
    addTracesToDataset: {
      precheck: async (_request, { caller }) => requirePermission('traces:view', caller),
      check: (request) => searches.problems(toConditions(request)),
      async handle(request, context) {
        const draft = { search: toConditions(request), limit: request.limit ?? TRACES_MAX, call: callOf(context) };
        const { dataset, ...counts } = await datasets.appendTraces(projectOf(context), request.slugOrId, draft);
        return { dataset: toMessage(dataset), ...counts };
      },
    },
    async deleteDataset({ slugOrId }, context) {
      await datasets.remove(projectOf(context), slugOrId, context.nowMs);
      return {};
    },
  };
}

type SentEntries = { readonly [Form in keyof EntriesDraft]?: string | undefined };

function entriesOf({ entriesJson, csv, jsonl }: SentEntries): EntriesDraft {
  return { entriesJson: entriesJson ?? null, csv: csv ?? null, jsonl: jsonl ?? null };
}

function toMessage(dataset: Dataset): MessageInitShape<typeof DatasetSchema> {
  return fieldsOf(dataset);
}

function toEntry(dataset: Dataset, entry: NumberedEntry): MessageInitShape<typeof DatasetEntrySchema> {
  const createdAt = timestampFromMs(entry.createdAtMs);
  const { id, entryJson } = entry;
  return { id, entryJson, datasetId: dataset.id, projectId: dataset.projectId, createdAt, updatedAt: createdAt };
}
