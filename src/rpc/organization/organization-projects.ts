/** ProjectService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { ProjectSchema, type ProjectService } from '../../../gen/spandrel/v1/organization_pb.js';
import type { ProjectRecord } from '../../domain/management/management.ts';
import type { RotatedKey } from '../../domain/organization/project-keys.ts';
import type { NewProject, Projects } from '../../domain/organization/projects.ts';
import { toTimestamp } from '../epoch-ms.ts';
import { fieldsOf } from '../field-values.ts';
import { answerOnce, managementCallOf } from '../management-call.ts';
import { nulProblems, updateProblems } from '../management-problems.ts';
import type { Context, Implementation } from '../method.ts';
import { sentValues } from '../update-mask.ts';
import { pageProblems, pageRequest, toPaging } from './organization.ts';

type Named = { readonly id: string };

export function createProjectRpc({ projects }: { readonly projects: Projects }): Implementation<typeof ProjectService> {
  const admit = (permission: string) => (request: Named, context: Context) =>
    projects.admit(managementCallOf(context), request.id, permission);
  return {
    listProjects: {
      check: pageProblems,
      async handle(request, context) {
        const page = await projects.list(managementCallOf(context), pageRequest(request));
        return { data: page.items.map(toProject), ...toPaging(page) };
      },
    },
    createProject: {
      precheck: (_request, context) => projects.admitCreation(managementCallOf(context)),
      check: (request, input) => [...nulProblems(request, input), ...projects.keyProblems(request.apiKey ?? '')],
      handle: ({ name = '', teamId = null, language = null, framework = null, apiKey = null }, context) =>
        answerOnce(context, {
          run: (call) => projects.create(call, { name, teamId, language, framework, apiKey }),
          show: (created: NewProject) => ({ project: toProject(created.project), apiKey: created.apiKey }),
          idOf: ({ project }) => project?.id ?? null,
        }),
    },
    getProject: async (request, context) => ({
      project: toProject(await projects.get(managementCallOf(context), request.id)),
    }),
    updateProject: {
      precheck: admit('project:update'),
      check: updateProblems,
      async handle({ id, project: resource, updateMask: mask }, context) {
        const names = ['name', 'language', 'framework', 'teamId'] as const;
        const changes = sentValues(ProjectSchema, { resource, mask }, names);
        return { project: toProject(await projects.update(managementCallOf(context), id, changes)) };
      },
    },
    async archiveProject(request, context) {
      const { id, name, archivedAtMs } = await projects.archive(managementCallOf(context), request.id);
      return { id, name, archivedAt: timestampFromMs(archivedAtMs) };
    },
    rotateProjectKey: {
      precheck: admit('project:manage'),
      check: (request, input) => [...nulProblems(request, input), ...projects.keyProblems(request.apiKey ?? '')],
      handle: ({ id, overlapSeconds = 0, apiKey = null }, context) =>
        answerOnce(context, {
          run: (call) => projects.rotateKey(call, { id, overlapSeconds, apiKey }),
          show: toRotated,
        }),
    },
  };
}

function toRotated({ apiKey, overlapEndsAtMs }: RotatedKey) {
  return { apiKey, overlapEndsAt: toTimestamp(overlapEndsAtMs) };
}

function toProject(project: ProjectRecord): MessageInitShape<typeof ProjectSchema> {
  const { keyHint: apiKeyHint, keyLastUsedAtMs } = project;
  return { ...fieldsOf(project), apiKeyHint, apiKeyLastUsedAt: toTimestamp(keyLastUsedAtMs) };
}
