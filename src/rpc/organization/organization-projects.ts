/** ProjectService: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { ProjectSchema, type ProjectService } from '../../../gen/spandrel/v1/organization_pb.js';
import type { ProjectRecord } from '../../domain/management/management.ts';
import type { RotatedKey } from '../../domain/organization/project-keys.ts';
import type { NewProject, Projects } from '../../domain/organization/projects.ts';
import { timesOf, toTimestamp } from '../epoch-ms.ts';
import { managementCallOf } from '../management-call.ts';
import { nulProblems, sentFields, updateProblems } from '../management-problems.ts';
import type { Context, Implementation } from '../method.ts';
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
      async handle(request, context) {
        const { name = '', teamId = null, language = null, framework = null, apiKey = null } = request;
        const draft = { name, teamId, language, framework, apiKey };
        const answer = ({ project, apiKey }: NewProject) => ({ project: toProject(project), apiKey });
        const call = managementCallOf(context, ({ project }) => project?.id ?? null);
        return answer(await projects.create(call, draft, (created) => context.receipt(answer(created))));
      },
    },
    getProject: {
      handle: async (request, context) => ({
        project: toProject(await projects.get(managementCallOf(context), request.id)),
      }),
    },
    updateProject: {
      precheck: admit('project:update'),
      check: updateProblems,
      async handle({ id, project: resource, updateMask: mask }, context) {
        const names = ['name', 'language', 'framework', 'teamId'] as const;
        const changes = sentFields(ProjectSchema, { resource, mask }, names);
        return { project: toProject(await projects.update(managementCallOf(context), id, changes)) };
      },
    },
    archiveProject: {
      async handle(request, context) {
        const { id, name, archivedAtMs } = await projects.archive(managementCallOf(context), request.id);
        return { id, name, archivedAt: timestampFromMs(archivedAtMs) };
      },
    },
    rotateProjectKey: {
      precheck: admit('project:manage'),
      check: (request, input) => [...nulProblems(request, input), ...projects.keyProblems(request.apiKey ?? '')],
      async handle(request, context) {
        const { id, overlapSeconds = 0, apiKey = null } = request;
        const rotation = { id, overlapSeconds, apiKey };
        return toRotated(
          await projects.rotateKey(managementCallOf(context), rotation, (key) => context.receipt(toRotated(key))),
        );
      },
    },
  };
}

function toRotated({ apiKey, overlapEndsAtMs }: RotatedKey) {
  return { apiKey, overlapEndsAt: toTimestamp(overlapEndsAtMs) };
}

function toProject(project: ProjectRecord): MessageInitShape<typeof ProjectSchema> {
  const { id, name, slug, teamId, language, framework } = project;
  return {
    id,
    name,
    slug,
    teamId,
    language,
    framework,
    ...timesOf(project),
    archivedAt: toTimestamp(project.archivedAtMs),
    apiKeyHint: project.keyHint,
    apiKeyLastUsedAt: toTimestamp(project.keyLastUsedAtMs),
  };
}
