/** Project settings: message <-> domain values. */

import {
  ProjectSettingsSchema,
  type TraceService,
  type UpdateProjectSettingsRequest,
} from '../../../gen/spandrel/v1/traces_pb.js';
import type { Reason } from '../../domain/fault.ts';
import type { ProjectSettings, ProjectSettingsService } from '../../domain/organization/project-settings.ts';
import type { Implementation } from '../method.ts';
import { actorCallOf, projectOf } from '../scope.ts';
import { sentFields } from '../update-mask.ts';

type Rpcs = Pick<Implementation<typeof TraceService>, 'getProjectSettings' | 'updateProjectSettings'>;

export function createProjectSettingsRpc(settings: ProjectSettingsService): Rpcs {
  return {
    getProjectSettings: async (_request, context) => ({ settings: toMessage(settings.get(projectOf(context))) }),
    updateProjectSettings: {
      check: changeProblems,
      handle: async (request, context) => ({
        settings: toMessage(await settings.update(actorCallOf(context), changeOf(request))),
      }),
    },
  };
}

function toMessage({ traceRetentionDays, emitRequestEvents }: ProjectSettings) {
  return { emitRequestEvents, ...(traceRetentionDays === null ? {} : { traceRetentionDays }) };
}

function sentOf({ settings: resource, updateMask: mask }: UpdateProjectSettingsRequest) {
  return sentFields(ProjectSettingsSchema, { resource, mask }, ['traceRetentionDays', 'emitRequestEvents']);
}

function changeOf(request: UpdateProjectSettingsRequest): Partial<ProjectSettings> {
  const { emitRequestEvents, ...sent } = sentOf(request);
  return emitRequestEvents == null ? sent : { ...sent, emitRequestEvents };
}

/** Only the retention can be cleared, which keeps traces for ever; the other setting is always on or off. */
function changeProblems(request: UpdateProjectSettingsRequest): readonly Reason[] {
  if (sentOf(request).emitRequestEvents !== null) return [];
  const message = 'emitRequestEvents must be a boolean';
  return [{ field: 'emitRequestEvents', type: 'invalid_type', message, expected: 'boolean', received: 'null' }];
}
