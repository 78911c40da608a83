/** AnnotationService and AnnotationScoreService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  AnnotationAnchorKind,
  AnnotationAnchorScope,
  AnnotationSchema,
  AnnotationScoreSchema,
  type AnnotationScoreService,
  AnnotationScoreType,
  type AnnotationService,
  type CreateAnnotationRequest,
  type UpdateAnnotationRequest,
  type UpdateAnnotationScoreRequest,
} from '../../../gen/spandrel/v1/annotations_pb.js';
import { type Annotation, annotationUnits, type ScoreDefinition } from '../../domain/annotations/annotation.ts';
import {
  type AnnotationContent,
  type AnnotationDraft,
  contentProblems,
  draftProblems,
} from '../../domain/annotations/annotation-draft.ts';
import type { Annotations } from '../../domain/annotations/annotations.ts';
import type { ScoreDefinitions, ScoreDraft } from '../../domain/annotations/score-definitions.ts';
import type { Project } from '../../domain/caller.ts';
import { nameOf, numbersOf, wordOf } from '../enums.ts';
import { checkRange, msOfTimestamp } from '../epoch-ms.ts';
import { fieldsOf } from '../field-values.ts';
import { updateProblems } from '../management-problems.ts';
import type { Context, Implementation } from '../method.ts';
import { actorCallOf, projectOf } from '../scope.ts';
import { sentFields } from '../update-mask.ts';

const ANCHOR_KINDS = numbersOf(AnnotationAnchorKind);

export function createAnnotationRpc({
  annotations,
}: {
  readonly annotations: Annotations;
}): Implementation<typeof AnnotationService> {
  return {
    listAnnotations: {
      check: ({ startDate, endDate }) => checkRange(startDate, endDate),
      async handle({ anchor, startDate, endDate }, context) {
        const project = projectOf(context);
        const listed = await annotations.list(
          { project, nowMs: context.nowMs },
          {
            fromMs: startDate === undefined ? null : msOfTimestamp(startDate),
            toMs: endDate === undefined ? null : msOfTimestamp(endDate),
            isOfTraces: anchor === AnnotationAnchorScope.TRACE,
            count: countIn(context),
          },
        );
        return { annotations: listed.map((each) => toMessage(each, project)) };
      },
    },
    async listTraceAnnotations({ traceId, anchor }, context) {
      const at = { project: projectOf(context), nowMs: context.nowMs };
      const listed = await annotations.listOf(at, traceId, anchor === AnnotationAnchorScope.TRACE);
      countIn(context)(listed);
      return { annotations: listed.map((each) => toMessage(each, at.project)) };
    },
    createAnnotation: {
      check: (request) => draftProblems(draftOf(request)),
      async handle(request, context) {
        const call = actorCallOf(context);
        return { annotation: toMessage(await annotations.create(call, draftOf(request)), call.project) };
      },
    },
    async getAnnotation({ id }, context) {
      const project = projectOf(context);
      return { annotation: toMessage(await annotations.get({ project, nowMs: context.nowMs }, id), project) };
    },
    updateAnnotation: {
      check: (request) => contentProblems(contentOf(request)),
      async handle(request, context) {
        const call = actorCallOf(context);
        const changed = await annotations.update(call, request.id, contentOf(request));
        return { annotation: toMessage(changed, call.project) };
      },
    },
    async deleteAnnotation({ id }, context) {
      await annotations.remove(actorCallOf(context), id);
      return {};
    },
  };
}

export function createAnnotationScoreRpc({
  scores,
}: {
  readonly scores: ScoreDefinitions;
}): Implementation<typeof AnnotationScoreService> {
  return {
    async listAnnotationScores(_request, context) {
      const defined = await scores.list(projectOf(context));
      context.countResponseBytes(defined.reduce((bytes, each) => bytes + definitionBytes(each), 0));
      return { scores: defined.map(toScore) };
    },
    async createAnnotationScore({ dataType, ...sent }, context) {
      const draft: ScoreDraft = { ...sent, dataType: nameOf(AnnotationScoreType, dataType) };
      return { score: toScore(await scores.create(actorCallOf(context), draft)) };
    },
    updateAnnotationScore: {
      check: (request, input) => updateProblems(request, input).filter(({ field }) => !CLEARABLE.has(field)),
      handle: async (request, context) => ({
        score: toScore(await scores.update(actorCallOf(context), request.id, changesOf(request))),
      }),
    },
    async deleteAnnotationScore({ id }, context) {
      await scores.remove(actorCallOf(context), id);
      return {};
    },
  };
}

/** Bounds of a score; its other fields always have a value. */
const CLEARABLE: ReadonlySet<string> = new Set(['min', 'max']);
const BYTES_BESIDE_TEXTS = 500;

function definitionBytes({ name, options }: ScoreDefinition): number {
  return options.reduce((bytes, option) => bytes + option.length, BYTES_BESIDE_TEXTS + name.length);
}

function countIn({ countResponseBytes }: Pick<Context, 'countResponseBytes'>) {
  return (read: readonly Annotation[]) =>
    countResponseBytes(read.reduce((units, each) => units + annotationUnits(each), 0));
}

function draftOf(request: CreateAnnotationRequest): AnnotationDraft {
  const { traceId, comment, isThumbsUp, email, scoreOptionsJson: scoresJson, expectedOutput } = request;
  return {
    ...{ traceId, comment, isThumbsUp, email, scoresJson, expectedOutput },
    anchorKind: wordOf(AnnotationAnchorKind, request.anchorKind),
    spanId: request.spanId ?? null,
    anchorPath: request.anchorPath ?? null,
  };
}

function contentOf({ annotation: resource, updateMask: mask }: UpdateAnnotationRequest): AnnotationContent {
  const names = ['comment', 'isThumbsUp', 'email', 'scoreOptionsJson', 'expectedOutput'] as const;
  const { scoreOptionsJson: scoresJson, ...sent } = sentFields(AnnotationSchema, { resource, mask }, names);
  return { ...sent, scoresJson };
}

function changesOf({ score: resource, updateMask: mask }: UpdateAnnotationScoreRequest): ScoreDraft {
  const sent = sentFields(AnnotationScoreSchema, { resource, mask }, ['name', 'options', 'min', 'max', 'active']);
  return { ...sent, dataType: nameOf(AnnotationScoreType, resource?.dataType ?? 0) };
}

function toMessage(annotation: Annotation, project: Project): MessageInitShape<typeof AnnotationSchema> {
  return {
    ...fieldsOf(annotation),
    projectId: project.id,
    anchorKind: ANCHOR_KINDS[annotation.anchorKind],
    scoreOptionsJson: JSON.stringify(annotation.scores),
  };
}

function toScore(definition: ScoreDefinition): MessageInitShape<typeof AnnotationScoreSchema> {
  return { ...fieldsOf(definition), dataType: AnnotationScoreType[definition.dataType] };
}
