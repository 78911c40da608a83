/** EvaluatorService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
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
  return {
    getEvaluator: {
      handle: async (request, context) => {
        const project = projectOf(context);
        return respond(project, await deps.evaluators.get(project, request.idOrSlug));
      },
    },
    createEvaluator: {
      check: (request) => draftProblems(toDraft(request)),
      handle: async (request, context) => {
        const project = projectOf(context);
        return respond(project, await deps.evaluators.create(project, toDraft(request), context.nowMs));
      },
    },
    listEvaluators: {
      handle: async (_request, context) => {
        const project = projectOf(context);
        const found = await deps.evaluators.list(project, (bytes) => context.countResponseBytes(bytes));
        return { evaluators: found.map((evaluator) => respond(project, evaluator).evaluator) };
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
    deleteEvaluator: {
      handle: async (request, context) => {
        await deps.evaluators.remove(projectOf(context), request.idOrSlug, context.nowMs);
        return {};
      },
    },
  };
}

function toDraft(request: CreateEvaluatorRequest): EvaluatorDraft {
  return {
    name: request.name ?? null,
    type: typeFromMessage(request.evaluatorType),
    configJson: request.configJson ?? null,
    workflowId: request.workflowId ?? null,
    workflowName: request.workflowName ?? null,
    workflowIcon: request.workflowIcon ?? null,
    copiedFromEvaluatorId: request.copiedFromEvaluatorId ?? null,
    fields: request.fields.map(toFieldDraft),
    outputFields: request.outputFields.map(toFieldDraft),
  };
}

/** A field that the mask names without a value counts as not sent, so the mask is not needed. */
function toChange({ evaluator }: UpdateEvaluatorRequest): EvaluatorChange {
  const { name = null, evaluatorType = EvaluatorType.UNSPECIFIED, configJson = null } = evaluator ?? {};
  return { name, type: typeFromMessage(evaluatorType), configJson };
}

function toFieldDraft(field: EvaluatorField): EvaluatorFieldDraft {
  return { identifier: field.identifier, type: field.valueType ?? null, optional: field.isOptional ?? null };
}

function toMessage(evaluator: Evaluator, platformUrl: string): MessageInitShape<typeof EvaluatorSchema> {
  return {
    id: evaluator.id,
    projectId: evaluator.projectId,
    name: evaluator.name,
    slug: evaluator.slug,
    evaluatorType: typeNumbers[evaluator.type],
    configJson: evaluator.configJson,
    workflowId: evaluator.workflowId ?? undefined,
    copiedFromEvaluatorId: evaluator.copiedFromEvaluatorId ?? undefined,
    createdAt: timestampFromMs(evaluator.createdAtMs),
    updatedAt: timestampFromMs(evaluator.updatedAtMs),
    fields: evaluator.fields.map(toField),
    outputFields: evaluator.outputFields.map(toField),
    platformUrl,
    workflowName: evaluator.workflowName ?? undefined,
    workflowIcon: evaluator.workflowIcon ?? undefined,
  };
}

function toField({
  identifier,
  type,
  optional,
}: Evaluator['fields'][number]): MessageInitShape<typeof EvaluatorFieldSchema> {
  return { identifier, valueType: type, isOptional: optional };
}

const typeNumbers: Readonly<Record<Evaluator['type'], EvaluatorType>> = {
  evaluator: EvaluatorType.EVALUATOR,
  workflow: EvaluatorType.WORKFLOW,
  code: EvaluatorType.CODE,
};

/** Null when none was sent, and for an unknown number, which the rule of the field refuses. */
function typeFromMessage(type: EvaluatorType): Evaluator['type'] | null {
  const known = Object.entries(typeNumbers).find(([, number]) => number === type);
  return known ? (known[0] as Evaluator['type']) : null;
}
