/** MonitorService: message <-> domain values. */

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type CreateMonitorRequest,
  MonitorExecutionMode,
  type MonitorPrecondition,
  MonitorSchema,
  type MonitorService,
  type UpdateMonitorRequest,
} from '../../../gen/spandrel/v1/monitors_pb.js';
import { requirePermission } from '../../auth/authorize.ts';
import type { Caller, Project } from '../../domain/caller.ts';
import type { Monitor } from '../../domain/monitors/monitor.ts';
import {
  type MonitorDraft,
  monitorProblems,
  newMonitorProblems,
  type PreconditionDraft,
} from '../../domain/monitors/monitor-draft.ts';
import type { Monitors } from '../../domain/monitors/monitors.ts';
import { nameOf } from '../enums.ts';
import { toTimestamp } from '../epoch-ms.ts';
import { fieldsOf } from '../field-values.ts';
import type { Implementation } from '../method.ts';
import { projectOf } from '../scope.ts';
import { sentFields } from '../update-mask.ts';

type MonitorRpcDeps = {
  readonly monitors: Monitors;
  /** The URL of a monitor in the console. */
  readonly platformUrl: (project: Project, id: string) => string;
};

export function createMonitorRpc({ monitors, platformUrl }: MonitorRpcDeps): Implementation<typeof MonitorService> {
  const show = (project: Project, monitor: Monitor) => toMessage(monitor, platformUrl(project, monitor.id));
  return {
    async listMonitors(_request, context) {
      const project = projectOf(context);
      return { monitors: (await monitors.list(project)).map((monitor) => show(project, monitor)) };
    },
    async getMonitorBacklog(_request, context) {
      const { due, scheduled, running, oldestDueAtMs, refused } = await monitors.backlog(
        projectOf(context),
        context.nowMs,
      );
      return {
        due: BigInt(due),
        scheduled: BigInt(scheduled),
        running: BigInt(running),
        tracesRefused: BigInt(refused),
        oldestDueAt: toTimestamp(oldestDueAtMs),
      };
    },
    async getMonitor({ idOrSlug }, context) {
      const project = projectOf(context);
      return { monitor: show(project, await monitors.get(project, idOrSlug)) };
    },
    createMonitor: {
      check: (request) => newMonitorProblems(readNew(request)),
      handle: async (request, context) => {
        const project = projectOf(context);
        const draft = readNew(request);
        requireMaySelect(draft, context.caller);
        return { monitor: show(project, await monitors.create(project, draft, context.nowMs)) };
      },
    },
    updateMonitor: {
      check: (request) => monitorProblems(readChange(request)),
      handle: async (request, context) => {
        const project = projectOf(context);
        const update = { idOrSlug: request.idOrSlug, change: readChange(request), nowMs: context.nowMs };
        requireMaySelect(update.change, context.caller);
        return { monitor: show(project, await monitors.update(project, update)) };
      },
    },
    async toggleMonitor({ idOrSlug, enabled }, context) {
      const change = { ...NO_CHANGE, enabled: enabled ?? null };
      const toggled = await monitors.update(projectOf(context), { idOrSlug, change, nowMs: context.nowMs });
      return { id: toggled.id, enabled: toggled.enabled };
    },
    deleteMonitor: async ({ idOrSlug }, context) => ({
      id: await monitors.remove(projectOf(context), idOrSlug, context.nowMs),
    }),
  };
}

/** Which traces get results tells who may not read traces which of them have the values of the preconditions. */
function requireMaySelect({ preconditions }: MonitorDraft, caller: Caller): void {
  if (preconditions !== null && preconditions.length > 0) requirePermission('traces:view', caller);
}

const NOTHING = create(MonitorSchema);
const NO_CHANGE: MonitorDraft = {
  name: null,
  evaluatorId: null,
  enabled: null,
  sample: null,
  preconditions: null,
  mappingsJson: null,
  parametersJson: null,
  executionMode: null,
  level: null,
};

type Sent = Pick<
  CreateMonitorRequest,
  'enabled' | 'sample' | 'mappingsJson' | 'mappingJson' | 'parametersJson' | 'executionMode' | 'level'
>;

/** The fields that new monitors and changes have in common. */
function readSent(sent: Sent): Omit<MonitorDraft, 'name' | 'evaluatorId' | 'preconditions'> {
  return {
    enabled: sent.enabled ?? null,
    sample: sent.sample ?? null,
    mappingsJson: sent.mappingsJson ?? sent.mappingJson ?? null,
    parametersJson: sent.parametersJson ?? null,
    executionMode: nameOf(MonitorExecutionMode, sent.executionMode),
    level: sent.level ?? null,
  };
}

function readNew(request: CreateMonitorRequest): MonitorDraft {
  const { name = null, evaluatorId = null, preconditions } = request;
  return { ...readSent(request), name, evaluatorId, preconditions: preconditions.map(readPrecondition) };
}

/** A field that the mask names without a value counts as not sent, unless it is a list. */
function readChange({ monitor = NOTHING, updateMask }: UpdateMonitorRequest): MonitorDraft {
  const { name = null, evaluatorId = null } = monitor;
  const { preconditions } = sentFields(MonitorSchema, { resource: monitor, mask: updateMask }, ['preconditions']);
  return { ...readSent(monitor), name, evaluatorId, preconditions: preconditions?.map(readPrecondition) ?? null };
}

function readPrecondition({ field = '', rule, valueJson }: MonitorPrecondition): PreconditionDraft {
  return { field, rule: rule ?? null, valueJson: valueJson ?? null };
}

function toMessage(monitor: Monitor, platformUrl: string): MessageInitShape<typeof MonitorSchema> {
  return {
    ...fieldsOf(monitor),
    preconditions: monitor.preconditions.map(({ field, value }) => ({
      field,
      rule: 'is',
      valueJson: JSON.stringify(value),
    })),
    mappingsJson: JSON.stringify(monitor.mappings),
    executionMode: MonitorExecutionMode[monitor.executionMode],
    level: 'trace',
    platformUrl,
  };
}
