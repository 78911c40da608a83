import { expect, it } from 'vitest';
import { BUDGET_MATRIX } from './budgets-matrix.ts';
import { DASHBOARD_MATRIX } from './dashboards-matrix.ts';
import { ENDPOINT_MATRIX } from './endpoints-matrix.ts';
import { EXPERIMENT_MATRIX } from './experiments-matrix.ts';
import { GATEWAY_MATRIX } from './gateway-matrix.ts';
import { KEY_MATRIX } from './keys-matrix.ts';
import { methodsOf } from './matrix.ts';
import { MONITOR_MATRIX } from './monitors-matrix.ts';
import { ORGANIZATION_MATRIX } from './organization-matrix.ts';
import { PEOPLE_MATRIX } from './people-matrix.ts';
import { PROMPT_MATRIX } from './prompts-matrix.ts';
import { SAVED_VIEW_MATRIX } from './saved-views-matrix.ts';
import { nameOf, readRoutedMethods } from './services.ts';
import { SESSION_MATRIX } from './sessions-matrix.ts';
import { TRACE_DELETION_MATRIX } from './trace-deletions-matrix.ts';
import { TRACE_SHARE_MATRIX } from './trace-shares-matrix.ts';
import { TRIGGER_MATRIX } from './triggers-matrix.ts';

it('every route of the contract has a row in a matrix', async () => {
  const rows = new Set(
    [
      ...[KEY_MATRIX, BUDGET_MATRIX, ENDPOINT_MATRIX, EXPERIMENT_MATRIX, GATEWAY_MATRIX, MONITOR_MATRIX],
      ...[ORGANIZATION_MATRIX, SESSION_MATRIX, TRACE_DELETION_MATRIX, TRACE_SHARE_MATRIX, SAVED_VIEW_MATRIX],
      ...[DASHBOARD_MATRIX, PEOPLE_MATRIX, PROMPT_MATRIX, TRIGGER_MATRIX],
    ]
      .flatMap(methodsOf)
      .map(nameOf),
  );
  const routed = (await readRoutedMethods()).map(nameOf);
  expect(routed.length).toBeGreaterThan(0);
  expect(routed.filter((name) => !rows.has(name))).toEqual([]);
});
