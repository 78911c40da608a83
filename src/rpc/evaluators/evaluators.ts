/** EvaluatorService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type CreateEvaluatorRequest,
  type EvaluatorField,
  type EvaluatorFieldSchema,
  type EvaluatorSchema,
  type EvaluatorService,
  EvaluatorType,
  type UpdateEvaluatorRequest,
} from '../../../gen/spandrel/v1/evaluators_pb.js';
import type { Project } from '../../domain/caller.ts';
import type { Evaluator } from '../../domain/evaluators/evaluator.ts';
import {
  changeProblems,
  draftProblems,
  type EvaluatorChange,
  type EvaluatorDraft,
  type EvaluatorFieldDraft,
  type Evaluators,
} from '../../domain/evaluators/evaluators.ts';
import { cursorRequest } from '../cursor-page.ts';
import { numbersOf, wordOf } from '../enums.ts';
import { fieldsOf } from '../field-values.ts';
import type { Implementation } from '../method.ts';
import { projectOf } from '../scope.ts';

type EvaluatorRpcDeps = {
  readonly evaluators: Evaluators;
  /** The URL of an evaluator in the console. */
  readonly platformUrl: (project: Project, id: string) => string;
};

export function createEvaluatorRpc(deps: EvaluatorRpcDeps): Implementation<typeof EvaluatorService> {
  const respond = (project: Project, evaluator: Evaluator) => ({
    evaluator: toMessage(evaluator, deps.platformUrl(project, evaluator.id)),
  });
  const respondAll = (project: Project, evaluators: readonly Evaluator[]) => ({
    evaluators: evaluators.map((evaluator) => respond(project, evaluator).evaluator),
  });
  return {
    async getEvaluator(request, context) {
      const project = projectOf(context);
      return respond(project, await deps.evaluators.get(project, request.idOrSlug));
    },
    createEvaluator: {
      check: (request) => draftProblems(toDraft(request)),
      handle: async (request, context) => {
        const project = projectOf(context);
        return respond(project, await deps.evaluators.create(project, toDraft(request), context.nowMs));
      },
    },
    listEvaluators: {
      handle: async (request, context) => {
        const project = projectOf(context);
        const page = await deps.evaluators.list(project, cursorRequest(request), context.countResponseBytes);
        return { ...respondAll(project, page.items), nextPageToken: page.nextCursor ?? '' };
      },
      openParts: async (_request, context) => {
        const project = projectOf(context);
        const parts = await deps.evaluators.open(project, context.countResponseBytes);
        return mapParts(parts, (part) => respondAll(project, part));
      },
    },
    updateEvaluator: {
      check: (request) => changeProblems(toChange(request)),
      handle: async (request, context) => {
        const project = projectOf(context);
        const { idOrSlug } = request;
        const update = { idOrSlug, change: toChange(request), nowMs: context.nowMs };
        return respond(project, await deps.evaluators.update(project, update));
      },
    },
    async deleteEvaluator(request, context) {
      await deps.evaluators.remove(projectOf(context), request.idOrSlug, context.nowMs);
      return {};
    },
  };
}

async function* mapParts<From, To>(parts: AsyncIterable<From>, map: (part: From) => To): AsyncGenerator<To, void> {
  for await (const part of parts) yield map(part);
}

const TYPES = numbersOf(EvaluatorType);

function toDraft(request: CreateEvaluatorRequest): EvaluatorDraft {
  const { name = null, configJson = null, workflowId = null, workflowName = null, workflowIcon = null } = request;
  return {
    name,
    type: wordOf(EvaluatorType, request.evaluatorType),
    configJson,
    workflowId,
    workflowName,
    workflowIcon,
    copiedFromEvaluatorId: request.copiedFromEvaluatorId ?? null,
    fields: request.fields.map(toFieldDraft),
    outputFields: request.outputFields.map(toFieldDraft),
  };
}

/** A field that the mask names without a value counts as not sent, so the mask is not needed. */
function toChange({ evaluator }: UpdateEvaluatorRequest): EvaluatorChange {
  const { name = null, evaluatorType = EvaluatorType.UNSPECIFIED, configJson = null } = evaluator ?? {};
  return { name, type: wordOf(EvaluatorType, evaluatorType), configJson };
}

function toFieldDraft(field: EvaluatorField): EvaluatorFieldDraft {
  return { identifier: field.identifier, type: field.valueType ?? null, optional: field.isOptional ?? null };
}

function toMessage(evaluator: Evaluator, platformUrl: string): MessageInitShape<typeof EvaluatorSchema> {
  return {
    ...fieldsOf(evaluator),
    evaluatorType: TYPES[evaluator.type],
    fields: evaluator.fields.map(toField),
    outputFields: evaluator.outputFields.map(toField),
    platformUrl,
  };
}

function toField({
  identifier,
  type,
  optional,
}: Evaluator['fields'][number]): MessageInitShape<typeof EvaluatorFieldSchema> {
  return { identifier, valueType: type, isOptional: optional };
}
