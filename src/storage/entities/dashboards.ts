/** Dashboards and their graphs. */

import { defineEntity } from '@mikro-orm/core';
import { id, integer, json, text, times } from './kinds.ts';

export const DashboardRow = defineEntity({
  name: 'Dashboard',
  tableName: 'dashboards',
  properties: {
    ...{ projectId: id().primary(), id: id().primary(), name: text() },
    order: integer().fieldName('place'),
    ...times(),
  },
});

export const GraphRow = defineEntity({
  name: 'Graph',
  tableName: 'graphs',
  properties: {
    ...{ projectId: id().primary(), id: id().primary(), dashboardId: id().strictNullable(), name: text() },
    ...{ graphJson: json('graph'), filtersJson: json('filters') },
    ...{ gridColumn: integer(), gridRow: integer(), colSpan: integer(), rowSpan: integer() },
    ...times(),
  },
  indexes: [{ name: 'graphs_by_dashboard', properties: ['projectId', 'dashboardId'] }],
});
