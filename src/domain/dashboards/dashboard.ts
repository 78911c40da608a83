/** Dashboards with their graphs, and their port. */

import type { AuditRecord } from '../management/management.ts';

export type Dashboard = {
  readonly projectId: string;
  readonly id: string;
  readonly name: string;
  /** Its place among those of the project. */
  readonly order: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

export type Graph = {
  readonly projectId: string;
  readonly id: string;
  readonly dashboardId: string | null;
  readonly name: string;
  /** JSON objects. */
  readonly graphJson: string;
  readonly filtersJson: string;
  readonly gridColumn: number;
  readonly gridRow: number;
  readonly colSpan: number;
  readonly rowSpan: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** Verbs that change something store `audited` with it, and only then. */
export type DashboardStore = {
  /** By `order`, each with the number of its graphs. */
  list(projectId: string): Promise<readonly (Dashboard & { readonly graphCount: number })[]>;
  find(projectId: string, id: string): Promise<Dashboard | null>;
  /** Stores the dashboard after the last one. MUST return `limit_reached` and store nothing when the project has `max`. */
  insert(dashboard: Omit<Dashboard, 'order'>, max: number, audited: AuditRecord): Promise<Dashboard | 'limit_reached'>;
  /** Null when the project has no such dashboard. */
  rename(
    named: Pick<Dashboard, 'projectId' | 'id' | 'name' | 'updatedAtMs'>,
    audited: AuditRecord,
  ): Promise<Dashboard | null>;
  /** MUST change nothing and return the ids that the project does not have, if there are any. */
  reorder(
    order: { readonly projectId: string; readonly ids: readonly string[]; readonly nowMs: number },
    audited: AuditRecord,
  ): Promise<readonly string[]>;
  /** Removes its graphs, too. Null when the project has no such dashboard. */
  remove(projectId: string, id: string, audited: AuditRecord): Promise<Dashboard | null>;

  /** All of a project, the newest first; or those of a dashboard, by row and column. */
  listGraphs(projectId: string, dashboardId: string | null): Promise<readonly Graph[]>;
  findGraph(projectId: string, id: string): Promise<Graph | null>;
  /**
   * A graph without a row is stored after those of its dashboard. MUST store nothing and return `limit_reached` when the
   * project has `max` graphs, and `dashboard_gone` when it has no such dashboard.
   */
  insertGraph(
    graph: Omit<Graph, 'gridRow'> & { readonly gridRow: number | null },
    max: number,
    audited: AuditRecord,
  ): Promise<Graph | 'limit_reached' | 'dashboard_gone'>;
  /** MUST store nothing and return `stale` unless the stored graph was last updated at `knownAtMs`. */
  replaceGraph(graph: Graph, knownAtMs: number, audited: AuditRecord): Promise<'stored' | 'stale' | 'dashboard_gone'>;
  /** False when the project has no such graph. */
  removeGraph(projectId: string, id: string, audited: AuditRecord): Promise<boolean>;
};
