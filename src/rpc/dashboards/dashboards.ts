/** DashboardService and GraphService: message <-> domain values. */

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  type CreateGraphRequest,
  type DashboardSchema,
  type DashboardService,
  GraphSchema,
  type GraphService,
} from '../../../gen/spandrel/v1/dashboards_pb.js';
import type { Project } from '../../domain/caller.ts';
import type { Dashboard, Graph } from '../../domain/dashboards/dashboard.ts';
import {
  type Dashboards,
  type GraphDraft,
  graphProblems,
  newGraphProblems,
} from '../../domain/dashboards/dashboards.ts';
import { nameProblems } from '../../domain/resources.ts';
import { fieldsOf } from '../field-values.ts';
import type { Implementation } from '../method.ts';
import { actorCallOf, projectOf } from '../scope.ts';

type DashboardRpcDeps = {
  readonly dashboards: Dashboards;
  /** The URL of a dashboard in the console. */
  readonly platformUrl: (project: Project, id: string) => string;
};

export function createDashboardRpc({
  dashboards,
  platformUrl,
}: DashboardRpcDeps): Implementation<typeof DashboardService> {
  const show = (project: Project, dashboard: Dashboard): MessageInitShape<typeof DashboardSchema> => ({
    ...fieldsOf(dashboard),
    platformUrl: platformUrl(project, dashboard.id),
  });
  return {
    async listDashboards(_request, context) {
      const project = projectOf(context);
      const found = await dashboards.list(project);
      return { dashboards: found.map((each) => ({ ...show(project, each), graphCount: each.graphCount })) };
    },
    async getDashboard({ id }, context) {
      const project = projectOf(context);
      const { dashboard, graphs } = await dashboards.get(project, id);
      context.countResponseBytes(bytesOf(graphs));
      return { dashboard: show(project, dashboard), graphs: graphs.map(toMessage) };
    },
    createDashboard: {
      check: ({ name }) => nameProblems(name ?? null),
      handle: async ({ name = '' }, context) => {
        const call = actorCallOf(context);
        return { dashboard: show(call.project, await dashboards.create(call, name)) };
      },
    },
    renameDashboard: {
      check: ({ name }) => nameProblems(name ?? null),
      handle: async ({ id, name = '' }, context) => {
        const call = actorCallOf(context);
        return { dashboard: show(call.project, await dashboards.rename(call, id, name)) };
      },
    },
    async reorderDashboards({ dashboardIds }, context) {
      await dashboards.reorder(actorCallOf(context), dashboardIds);
      return {};
    },
    async deleteDashboard({ id }, context) {
      const { name } = await dashboards.remove(actorCallOf(context), id);
      return { id, name };
    },
  };
}

export function createGraphRpc(dashboards: Dashboards): Implementation<typeof GraphService> {
  return {
    async listGraphs({ dashboardId }, context) {
      const graphs = await dashboards.listGraphs(projectOf(context), dashboardId || null);
      context.countResponseBytes(bytesOf(graphs));
      return { graphs: graphs.map(toMessage) };
    },
    getGraph: async ({ id }, context) => ({ graph: toMessage(await dashboards.getGraph(projectOf(context), id)) }),
    createGraph: {
      check: (request) => newGraphProblems(readDraft(request)),
      handle: async (request, context) => ({
        graph: toMessage(await dashboards.createGraph(actorCallOf(context), readDraft(request))),
      }),
    },
    updateGraph: {
      check: ({ graph = NOTHING }) => graphProblems(readDraft(graph)),
      handle: async ({ id, graph = NOTHING }, context) => ({
        graph: toMessage(await dashboards.updateGraph(actorCallOf(context), id, readDraft(graph))),
      }),
    },
    async deleteGraph({ id }, context) {
      await dashboards.removeGraph(actorCallOf(context), id);
      return { id };
    },
  };
}

const NOTHING = create(GraphSchema);

/** A graph without what the server sets; a new one has the same fields. */
function readDraft(sent: Omit<CreateGraphRequest, '$typeName' | '$unknown'>): GraphDraft {
  return {
    dashboardId: sent.dashboardId ?? null,
    name: sent.name ?? null,
    graphJson: sent.graphJson ?? null,
    filtersJson: sent.filtersJson ?? null,
    gridColumn: sent.gridColumn ?? null,
    gridRow: sent.gridRow ?? null,
    colSpan: sent.colSpan ?? null,
    rowSpan: sent.rowSpan ?? null,
  };
}

function bytesOf(graphs: readonly Graph[]): number {
  return graphs.reduce((sum, { graphJson, filtersJson }) => sum + graphJson.length + filtersJson.length, 0);
}

function toMessage(graph: Graph): MessageInitShape<typeof GraphSchema> {
  return fieldsOf(graph);
}
