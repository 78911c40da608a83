/** Project settings: message <-> domain values. */

import { create } from '@bufbuild/protobuf';
import {
  ProjectSettingsSchema,
  type TraceService,
  type UpdateProjectSettingsRequest,
} from '../../../gen/spandrel/v1/traces_pb.js';
import type { Reason } from '../../domain/fault.ts';
import type { ProjectSettings, ProjectSettingsService } from '../../domain/organization/project-settings.ts';
import type { Implementation } from '../method.ts';
import { actorCallOf, projectOf } from '../scope.ts';
import { isSent } from '../update-mask.ts';

type Rpcs = Pick<Implementation<typeof TraceService>, 'getProjectSettings' | 'updateProjectSettings'>;

const NOTHING = create(ProjectSettingsSchema);

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

function changeOf(request: UpdateProjectSettingsRequest): Partial<ProjectSettings> {
  const { settings: { traceRetentionDays, emitRequestEvents } = NOTHING, updateMask } = request;
  return {
    ...(isSent(updateMask, 'trace_retention_days', traceRetentionDays)
      ? { traceRetentionDays: traceRetentionDays ?? null }
      : {}),
    ...(isSent(updateMask, 'emit_request_events', emitRequestEvents) && emitRequestEvents !== undefined
      ? { emitRequestEvents }
      : {}),
  };
}

/** Only the retention can be cleared, which keeps traces for ever; the other setting is always on or off. */
function changeProblems({ updateMask, settings = NOTHING }: UpdateProjectSettingsRequest): readonly Reason[] {
  if (settings.emitRequestEvents !== undefined || !isSent(updateMask, 'emit_request_events', undefined)) return [];
  const message = 'emitRequestEvents must be a boolean';
  return [{ field: 'emitRequestEvents', type: 'invalid_type', message, expected: 'boolean', received: 'null' }];
}
