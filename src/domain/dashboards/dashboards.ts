/** The dashboards of a project, and their graphs. */

import { parseLossless } from '../../json/bounded-json.ts';
import { isObject, jsonTypeOf } from '../../json/lossless-json.ts';
import type { Project } from '../caller.ts';
import type { RandomBytes } from '../clock.ts';
import { Fault, type Reason } from '../fault.ts';
import { isPossibleId, newId } from '../ids.ts';
import { type Actor, auditRecord, changedFields } from '../management/audit.ts';
import { refuseProblems, typeReason } from '../reasons.ts';
import { nameProblems, nextUpdateMs, normalizeName, resourceRules } from '../resources.ts';
import type { Dashboard, DashboardStore, Graph } from './dashboard.ts';

type DashboardDeps = { readonly store: DashboardStore; readonly random: RandomBytes };

type Call = { readonly project: Project; readonly actor: Actor; readonly nowMs: number };

/** Null: not sent. */
export type GraphDraft = { readonly [Name in SentField]: Graph[Name] | null };
type SentField = Exclude<keyof Graph, 'projectId' | 'id' | 'createdAtMs' | 'updatedAtMs'>;

const dashboardRules = resourceRules({ noun: 'dashboard', liveMax: 100, atLimit: 'delete one first', isFlat: true });
/** All graphs of a project are one answer. */
const graphRules = resourceRules({ noun: 'graph', liveMax: 300, atLimit: 'delete one first', isFlat: true });
const GRAPH_BYTES_MAX = 16_384;
const DEPTH_MAX = 32;
const MEMBERS_MAX = 1_000;

export type Dashboards = ReturnType<typeof createDashboards>;

export function createDashboards({ store, random }: DashboardDeps) {
  const audit = ({ actor, nowMs }: Call, action: string, targetId: string, more: object = {}) =>
    auditRecord(actor, { action, targetId, ...more }, { nowMs, random });

  return {
    /** In their order, each with the number of its graphs. */
    list: ({ id }: Project) => store.list(id),
    /** Throws dashboard_not_found. */
    async get(project: Project, id: string) {
      const dashboard = await dashboardRules.find(store, project, id);
      return { dashboard, graphs: await store.listGraphs(project.id, dashboard.id) };
    },
    /** Throws validation_error, dashboard_limit_reached. */
    async create(call: Call, name: string): Promise<Dashboard> {
      refuseProblems(nameProblems(name));
      const { project, nowMs } = call;
      const id = newId('dashboard', random);
      const dashboard = {
        ...{ projectId: project.id, id, name: normalizeName(name) },
        ...{ createdAtMs: nowMs, updatedAtMs: nowMs },
      };
      const audited = audit(call, 'dashboard.create', id, { status: 201 });
      const stored = await store.insert(dashboard, dashboardRules.liveMax, audited);
      if (stored === 'limit_reached') throw dashboardRules.limitReached();
      return stored;
    },
    /** Throws validation_error, dashboard_not_found. */
    async rename(call: Call, id: string, name: string): Promise<Dashboard> {
      refuseProblems(nameProblems(name));
      const stored = await dashboardRules.find(store, call.project, id);
      const { projectId } = stored;
      const named = { projectId, id, name: normalizeName(name), updatedAtMs: nextUpdateMs(stored, call.nowMs) };
      const renamed = await store.rename(named, audit(call, 'dashboard.update', id, { fields: ['name'] }));
      if (renamed === null) throw dashboardRules.notFound();
      return renamed;
    },
    /** Throws validation_error for an id that is named twice, dashboards_unknown. */
    async reorder(call: Call, ids: readonly string[]): Promise<void> {
      if (new Set(ids).size < ids.length) refuseProblems([NAMED_TWICE]);
      const impossible = ids.filter((id) => !isPossibleId(id));
      const order = { projectId: call.project.id, ids, nowMs: call.nowMs };
      const audited = audit(call, 'dashboard.reorder', call.project.id);
      const unknown = impossible.length > 0 ? impossible : await store.reorder(order, audited);
      if (unknown.length === 0) return;
      const message = `Dashboards not found: ${unknown.filter(isPossibleId).join(', ')}`;
      throw new Fault('dashboards_unknown', message, { flatError: message });
    },
    /** Throws dashboard_not_found. */
    async remove(call: Call, id: string): Promise<Dashboard> {
      const audited = audit(call, 'dashboard.delete', id);
      const removed = isPossibleId(id) ? await store.remove(call.project.id, id, audited) : null;
      if (removed === null) throw dashboardRules.notFound();
      return removed;
    },

    /** All, the newest first; or those of a dashboard, by row and column. */
    listGraphs: async ({ id }: Project, dashboardId: string | null) =>
      dashboardId === null || isPossibleId(dashboardId) ? await store.listGraphs(id, dashboardId) : [],
    /** Throws graph_not_found. */
    getGraph: (project: Project, id: string) => graphRules.find({ find: store.findGraph }, project, id),
    /** Throws validation_error, dashboard_not_found, graph_limit_reached. */
    async createGraph(call: Call, draft: GraphDraft): Promise<Graph> {
      refuseProblems(newGraphProblems(draft));
      const { project, nowMs } = call;
      const graph = {
        ...{ projectId: project.id, id: newId('graph', random), dashboardId: draft.dashboardId },
        name: normalizeName(draft.name ?? ''),
        graphJson: draft.graphJson ?? '{}',
        filtersJson: draft.filtersJson ?? '{}',
        ...{ gridColumn: draft.gridColumn ?? 0, gridRow: draft.gridRow },
        ...{ colSpan: draft.colSpan ?? 1, rowSpan: draft.rowSpan ?? 1 },
        ...{ createdAtMs: nowMs, updatedAtMs: nowMs },
      };
      const audited = audit(call, 'graph.create', graph.id, { status: 201 });
      const stored = await store.insertGraph(graph, graphRules.liveMax, audited);
      if (stored === 'dashboard_gone') throw dashboardRules.notFound();
      if (stored === 'limit_reached') throw graphRules.limitReached();
      return stored;
    },
    /** Throws validation_error, graph_not_found, dashboard_not_found. Stores nothing when nothing changes. */
    async updateGraph(call: Call, id: string, change: GraphDraft): Promise<Graph> {
      refuseProblems(graphProblems(change));
      const replace = async (next: Graph, knownAtMs: number, stored: Graph) => {
        refuseProblems(sizeProblems(next));
        const fields = changedFields(CHANGEABLE, stored, next);
        const outcome = await store.replaceGraph(next, knownAtMs, audit(call, 'graph.update', id, { fields }));
        if (outcome === 'dashboard_gone') throw dashboardRules.notFound();
        return outcome;
      };
      const graphs = { find: store.findGraph, replace };
      return await graphRules.change(graphs, { ...call, idOrSlug: id }, (stored) => merge(stored, change));
    },
    /** Throws graph_not_found. */
    async removeGraph(call: Call, id: string): Promise<void> {
      const audited = audit(call, 'graph.delete', id);
      if (!isPossibleId(id) || !(await store.removeGraph(call.project.id, id, audited))) throw graphRules.notFound();
    },
  };
}

/** Every problem of the fields of a graph that are sent. */
export function graphProblems(draft: GraphDraft): readonly Reason[] {
  return [
    ...(draft.name === null ? [] : nameProblems(draft.name)),
    ...objectProblems('graph', draft.graphJson),
    ...objectProblems('filters', draft.filtersJson),
    ...sizeProblems(draft),
    ...(draft.dashboardId === null || isPossibleId(draft.dashboardId) ? [] : [IMPOSSIBLE_ID]),
  ];
}

/** The same for a new graph, which needs a name and a definition. */
export function newGraphProblems(draft: GraphDraft): readonly Reason[] {
  const missing = [
    ...(draft.name === null ? [typeReason('name', 'string', 'undefined')] : []),
    ...(draft.graphJson === null ? [typeReason('graph', 'object', 'undefined')] : []),
  ];
  return [...missing, ...graphProblems(draft)];
}

const CHANGEABLE: { readonly [Name in SentField]: Name } = {
  dashboardId: 'dashboardId',
  name: 'name',
  graphJson: 'graphJson',
  filtersJson: 'filtersJson',
  gridColumn: 'gridColumn',
  gridRow: 'gridRow',
  colSpan: 'colSpan',
  rowSpan: 'rowSpan',
};

function merge(stored: Graph, change: GraphDraft): Graph {
  const sent = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== null));
  const merged: Graph = { ...stored, ...sent };
  return { ...merged, name: normalizeName(merged.name) };
}

function objectProblems(field: string, json: string | null): readonly Reason[] {
  if (json === null) return [];
  const parsed = parseLossless(json, { depth: DEPTH_MAX, members: MEMBERS_MAX });
  if (parsed.kind !== 'value') {
    const message = `${field} must be JSON of at most ${DEPTH_MAX} levels and ${MEMBERS_MAX} members`;
    return [{ field, type: 'invalid_format', message }];
  }
  if (!isObject(parsed.value)) return [typeReason(field, 'object', jsonTypeOf(parsed.value))];
  if (!ESCAPED_NUL.test(json)) return [];
  return [{ field, type: 'invalid_format', message: `${field} must not contain the character U+0000` }];
}

/** PostgreSQL cannot store U+0000. An escaped backslash before it escapes nothing. */
const ESCAPED_NUL = /(?<!\\)(?:\\\\)*\\u0000/;

function sizeProblems({ graphJson, filtersJson }: Pick<GraphDraft, 'graphJson' | 'filtersJson'>): readonly Reason[] {
  const bytes = Buffer.byteLength(graphJson ?? '') + Buffer.byteLength(filtersJson ?? '');
  if (bytes <= GRAPH_BYTES_MAX) return [];
  const message = `graph and filters must take at most ${GRAPH_BYTES_MAX} bytes`;
  return [{ field: 'graph', type: 'too_big', message, expected: GRAPH_BYTES_MAX }];
}

const IMPOSSIBLE_ID: Reason = {
  field: 'dashboardId',
  type: 'invalid_format',
  message: 'dashboardId must be the id of a dashboard',
};

const NAMED_TWICE: Reason = {
  field: 'dashboardIds',
  type: 'custom',
  message: 'dashboardIds must name each dashboard once',
};
